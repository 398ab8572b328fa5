import { sql } from "drizzle-orm";
import type { Tx } from "#store";
import { countedStates } from "../../refund/state.ts";
import type { InvoiceRow } from "../present.ts";
import { invoiceSources } from "./intents.ts";

/** What completed payments brought, and what is left of it after refunds. Atomic units of the invoice's currency. */
export interface Collected {
  readonly collected: bigint;
  readonly paid: bigint;
}

/** Added up anew each time, so that it is right whatever was told how often. */
export async function collectedOf(tx: Tx, { merchantId, id, currency }: InvoiceRow): Promise<Collected> {
  const { rows } = await tx.execute<{ amount: string; settled: string; refunded: string }>(sql`
    SELECT intent.amount, clearing.settlement_amount AS settled, coalesce((
      SELECT sum(refund.amount) FROM refund
      WHERE refund.merchant_id = clearing.merchant_id AND refund.clearing_id = clearing.id
        AND refund.state = ANY(${sql.param(countedStates)}::text[])), 0) AS refunded
    FROM payment_intent AS intent JOIN clearing
      ON clearing.merchant_id = intent.merchant_id AND clearing.id = intent.clearing_id
    WHERE intent.merchant_id = ${merchantId} AND intent.metadata ? 'invoiceId' AND intent.metadata->>'invoiceId' = ${id}
      AND intent.source = ANY(${sql.param(invoiceSources)}::text[]) AND intent.status = 'completed'
      AND intent.currency = ${currency}`);
  const parts = rows.map(({ amount, settled, refunded }) => ({
    amount: BigInt(amount),
    left: BigInt(amount) - shareOf(BigInt(amount), BigInt(refunded), BigInt(settled)),
  }));
  return {
    collected: parts.reduce((sum, { amount }) => sum + amount, 0n),
    paid: parts.reduce((sum, { left }) => sum + left, 0n),
  };
}

/** Refunds are in the coin that was paid with: as much of the price as of the coin. */
function shareOf(amount: bigint, refunded: bigint, settled: bigint): bigint {
  if (settled <= 0n) return 0n;
  const share = (amount * refunded) / settled;
  return share < amount ? share : amount;
}
