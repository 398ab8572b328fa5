import { and, inArray } from "drizzle-orm";
import type { EventFamily } from "../http/event.ts";
import { presentRefund } from "./present.ts";
import { Refund } from "./schema.ts";
import { refund } from "./tables.ts";

/** What merchants are told of refunds. */
export const refundEvents: EventFamily = {
  types: [
    "refund.created",
    "refund.requires_destination",
    "refund.processing",
    "refund.succeeded",
    "refund.failed",
    "refund.cancelled",
  ],
  object: Refund,
  async present(db, facts) {
    const ids = [...new Set(facts.map(({ subject }) => subject as `re_${string}`))];
    const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
    const rows = await db
      .select()
      .from(refund)
      .where(and(inArray(refund.merchantId, merchants), inArray(refund.id, ids)));
    const found = new Map(rows.map((row) => [row.id as string, row]));
    return facts.map(({ subject }) => {
      const row = found.get(subject);
      return row ? presentRefund(row) : null;
    });
  },
};
