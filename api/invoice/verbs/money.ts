import { sql } from "drizzle-orm";
import { mulDivHalfEven } from "#kernel/money";
import type { Executor, Tx } from "#store";
import { countedStates, type RefundState } from "../../refund/state.ts";
import type { InvoiceRow } from "../present.ts";
import { invoiceSources } from "./intents.ts";

/** What completed payments brought, and what is left of it after refunds. Atomic units of the invoice's currency. */
export interface Collected {
  readonly collected: bigint;
  readonly paid: bigint;
}

/** Added up anew each time, so that it is right whatever was told how often. */
export async function collectedOf(tx: Tx, row: InvoiceRow): Promise<Collected> {
  const parts = await partsOf(tx, row, countedStates);
  return {
    collected: parts.reduce((sum, { amount }) => sum + amount, 0n),
    paid: parts.reduce((sum, { amount, refunded }) => sum + amount - refunded, 0n),
  };
}

/** What of `collected` went back: atomic units of the invoice's currency. */
export interface InvoiceRefunds {
  readonly arrived: bigint;
  readonly underWay: bigint;
}

export async function refundsOf(db: Executor, row: InvoiceRow): Promise<InvoiceRefunds> {
  const given = row.collected - row.paid;
  if (given === 0n) return { arrived: 0n, underWay: 0n };
  const parts = await partsOf(db, row, ["succeeded"]);
  const arrived = parts.reduce((sum, { refunded }) => sum + refunded, 0n);
  return { arrived, underWay: given > arrived ? given - arrived : 0n };
}

/** Each completed payment of it, with what went back of that by refunds in these states. */
async function partsOf(
  db: Executor,
  { merchantId, id, currency }: InvoiceRow,
  states: readonly RefundState[],
): Promise<readonly { readonly amount: bigint; readonly refunded: bigint }[]> {
  const { rows } = await db.execute<{ amount: string; settled: string; refunded: string }>(sql`
    SELECT intent.amount, clearing.settlement_amount AS settled, coalesce((
      SELECT sum(refund.amount) FROM refund
      WHERE refund.merchant_id = clearing.merchant_id AND refund.clearing_id = clearing.id
        AND refund.state = ANY(${sql.param(states)}::text[])), 0) AS refunded
    FROM payment_intent AS intent JOIN clearing
      ON clearing.merchant_id = intent.merchant_id AND clearing.id = intent.clearing_id
    WHERE intent.merchant_id = ${merchantId} AND intent.metadata ? 'invoiceId' AND intent.metadata->>'invoiceId' = ${id}
      AND intent.source = ANY(${sql.param(invoiceSources)}::text[]) AND intent.status = 'completed'
      AND intent.currency = ${currency}`);
  return rows.map(({ amount, settled, refunded }) => ({
    amount: BigInt(amount),
    refunded: shareOf(BigInt(amount), BigInt(refunded), BigInt(settled)),
  }));
}

/** Refunds are in the coin that was paid with: as much of the price as of the coin, to the nearest unit. What was asked for in
 *  the currency was cut to the coin's units, and would be a unit less if it were cut once more. */
export function shareOf(amount: bigint, refunded: bigint, settled: bigint): bigint {
  if (settled <= 0n) return 0n;
  const share = mulDivHalfEven(amount, refunded, settled);
  return share < amount ? share : amount;
}
