/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { MerchantChange } from "../../merchant/schema.ts";
import { changeMerchant, readMerchant } from "../../merchant/verbs/merchant.ts";
import { type Fields, fieldOf, parseFields } from "../form.ts";
import { asFlag, asLines, asNullable, asNumber, asRails, asText } from "../readings.ts";
import type { Show } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { NO_LOGO } from "./brand.tsx";
import { SettingsPage } from "./view.tsx";

const PATH = "/dashboard/settings";

/** A new picture, or none where the present one is to go; left out it stays. */
function readBrand(fields: Fields): MerchantChange {
  const isGone = fieldOf(fields, NO_LOGO) !== undefined;
  return parseFields(
    MerchantChange,
    fields.filter(([name]) => name !== NO_LOGO),
    {},
    { brandColour: asNullable, logo: ([picture]) => picture ?? (isGone ? null : undefined) },
  );
}

/** What a merchant may change of itself. */
export function settingsSection({ facilitator }: Pick<Desk, "facilitator">): Section {
  const show: Show = async ({ c, ctx }) => {
    const of = await readMerchant({ ctx });
    const body = <SettingsPage of={of} rails={facilitator.rails()} done={c.req.query("done")} />;
    return { title: "Settings", body };
  };
  return {
    place: "settings",
    furnish(room) {
      room.page(PATH, show);
      room.action({
        path: PATH,
        // All of it is on the form, so what was left empty is meant to be so.
        read: (_c, fields) =>
          parseFields(
            MerchantChange,
            fields,
            {},
            {
              name: asText,
              city: asText,
              countryCode: asText,
              timeZone: asText,
              invoicePrefix: asText,
              categoryCode: asNullable,
              taxId: asNullable,
              address: asNullable,
              contactEmail: asNullable,
              allowedOrigins: asLines,
              rails: asRails,
              underpaymentToleranceBps: asNumber,
              spreadBps: asNumber,
              refundFees: asFlag,
            },
          ),
        async act(ctx, input) {
          await changeMerchant({ facilitator }, { ctx, input });
          return `${PATH}?done=saved`;
        },
        again: show,
      });
      room.action({
        path: `${PATH}/brand`,
        read: (_c, fields) => readBrand(fields),
        async act(ctx, input) {
          await changeMerchant({ facilitator }, { ctx, input });
          return `${PATH}?done=saved`;
        },
        again: show,
      });
    },
  };
}
