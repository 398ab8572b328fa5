import { inArray } from "drizzle-orm";
import type { Executor, outbox } from "#store";
import type { EventFamily } from "../http/event.ts";
import { merchant } from "../merchant/tables.ts";
import { type LinkRow, presentLink } from "./present.ts";
import { PaymentLink } from "./schema.ts";
import { paymentLink } from "./tables.ts";
import { type LinkView, shownOf, standingsWhere } from "./verbs/standing.ts";

/** What merchants are told of their links. */
export function linkEvents(view: LinkView & { readonly now: () => Date }): EventFamily {
  return {
    types: ["payment_link.created", "payment_link.updated", "payment_link.disabled"],
    object: PaymentLink,
    async present(db: Executor, facts: readonly outbox.Fact[]) {
      const ids = [...new Set(facts.map(({ subject }) => subject))] as LinkRow["id"][];
      const now = view.now();
      const found =
        ids.length === 0 ? [] : await standingsWhere(db, now, { where: inArray(paymentLink.id, ids) });
      const byId = new Map<string, (typeof found)[number]>(found.map((each) => [each.link.id, each]));
      const merchantIds = [...new Set(facts.map((fact) => fact.merchantId))];
      const rows = await db.select().from(merchant).where(inArray(merchant.id, merchantIds));
      const sellers = new Map(rows.map((row) => [row.id, row]));
      return facts.map(({ subject, merchantId }) => {
        const standing = byId.get(subject);
        const seller = sellers.get(merchantId);
        if (!seller || standing?.link.merchantId !== merchantId) return null;
        return presentLink(standing, shownOf(view, seller, now));
      });
    },
  };
}
