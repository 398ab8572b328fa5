import { and, inArray } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { assert } from "#kernel/fault";
import type { outbox, Tx } from "#store";
import { payableOf, type Recorded, recordPayments } from "../../clearing/verbs/record.ts";
import type { InvoiceRow } from "../present.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { originOf } from "./intents.ts";

/** Writes down what agents paid at the invoice's own URL as payments like any other. */
export async function hearAgents(tx: Tx, desk: InvoiceDesk, facts: readonly outbox.Fact[]): Promise<void> {
  const ours = facts.filter(
    (fact) =>
      fact.type.startsWith("settlement.") &&
      fact.type !== "settlement.claimed" &&
      payableOf(fact).startsWith("inv_"),
  );
  if (ours.length > 0) await recordPayments(tx, desk, ours, describe);
}

async function describe(tx: Tx, payments: readonly PaymentView[]): Promise<readonly Recorded[]> {
  const ids = [...new Set(payments.map(({ payableId }) => payableId as `inv_${string}`))];
  const merchants = [...new Set(payments.map(({ merchantId }) => merchantId))];
  const rows = await tx
    .select()
    .from(invoice)
    .where(and(inArray(invoice.merchantId, merchants), inArray(invoice.id, ids)));
  const byId = new Map(rows.map((row) => [row.id as string, row]));
  return payments.map((payment) => {
    const row = byId.get(payment.payableId);
    assert(row, `${payment.payableId} is an invoice of ours`);
    return recordOf(payment, row);
  });
}

function recordOf(payment: PaymentView, row: InvoiceRow): Recorded {
  return {
    payment,
    source: row.subscriptionId === null ? "invoice" : "subscription",
    currency: row.currency,
    metadata: { ...row.metadata, ...originOf(row) },
    merchantReference: row.number,
    seller: row,
  };
}
