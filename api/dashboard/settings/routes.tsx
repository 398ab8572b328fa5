/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { MerchantChange } from "../../merchant/schema.ts";
import { changeMerchant, readMerchant } from "../../merchant/verbs/merchant.ts";
import { parseFields } from "../form.ts";
import { asFlag, asLines, asNullable, asNumber, asText } from "../readings.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { SettingsPage } from "./view.tsx";

const PATH = "/dashboard/settings";

/** What a merchant may change of itself. */
export function settingsSection(): Section {
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
              contactEmail: asNullable,
              allowedOrigins: asLines,
              underpaymentToleranceBps: asNumber,
              spreadBps: asNumber,
              refundFees: asFlag,
            },
          ),
        async act(ctx, input) {
          await changeMerchant({ ctx, input });
          return `${PATH}?done=saved`;
        },
        again: show,
      });
    },
  };
}

const show: Show = async ({ c, ctx }) => {
  const body = <SettingsPage of={await readMerchant({ ctx })} done={c.req.query("done")} />;
  return { title: "Settings", body };
};
