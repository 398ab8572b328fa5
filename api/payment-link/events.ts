import { inArray } from "drizzle-orm";
import type { Executor, outbox } from "#store";
import type { EventFamily } from "../http/event.ts";
import { type LinkRow, presentLink } from "./present.ts";
import { PaymentLink } from "./schema.ts";
import { paymentLink } from "./tables.ts";
import { type LinkView, shownAt, standingsWhere } from "./verbs/standing.ts";

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
      return facts.map(({ subject, merchantId }) => {
        const standing = byId.get(subject);
        return standing?.link.merchantId === merchantId ? presentLink(standing, shownAt(view, now)) : null;
      });
    },
  };
}
