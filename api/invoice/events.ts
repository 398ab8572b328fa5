import { and, inArray } from "drizzle-orm";
import type { EventFamily } from "../http/event.ts";
import { presentInvoice, type Shown } from "./present.ts";
import { Invoice } from "./schema.ts";
import { invoice } from "./tables.ts";

/** What merchants are told of invoices. Source: merchant-api.md §6.1. */
export function invoiceEvents(shown: Shown): EventFamily {
  return {
    types: [
      "invoice.created",
      "invoice.issued",
      "invoice.sent",
      "invoice.paid",
      "invoice.overdue",
      "invoice.voided",
      "invoice.marked_uncollectible",
      "invoice.updated",
    ],
    object: Invoice,
    async present(db, facts) {
      if (facts.length === 0) return [];
      const ids = [...new Set(facts.map(({ subject }) => subject as `inv_${string}`))];
      const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
      const rows = await db
        .select()
        .from(invoice)
        .where(and(inArray(invoice.merchantId, merchants), inArray(invoice.id, ids)));
      const byId = new Map(rows.map((row) => [`${row.merchantId} ${row.id}`, row]));
      return facts.map(({ merchantId, subject }) => {
        const row = byId.get(`${merchantId} ${subject}`);
        return row ? presentInvoice(row, shown) : null;
      });
    },
  };
}
