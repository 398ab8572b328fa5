import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { ledgerAsset } from "#kernel/asset";
import { formatDecimal } from "#kernel/money";
import { holdAvailable, pendingCredits } from "#ledger";
import { fixed, type Tx } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { findCurrency } from "../../http/currency.ts";
import { fault } from "../../http/faults.ts";
import { toKeep } from "../amount.ts";
import { refund } from "../tables.ts";

/** Money of a merchant in one asset on one chain. */
export interface Purse {
  readonly merchantId: string;
  readonly chain: string;
  readonly asset: string;
}

/** Refuses what would leave the merchant unable to keep its promises: refunds whose payment is not final yet, or that
 *  wait for an address, have nothing reserved. Call it last, in the transaction that books or promises `amount` (atomic
 *  units of the asset): it holds the merchant's balance. Fault: `insufficient_balance`. */
export async function leavePromises(tx: Tx, purse: Purse, amount: bigint): Promise<void> {
  const { merchantId, chain, asset } = purse;
  const books = { merchantId, asset: ledgerAsset(asset, chain) };
  const available = await holdAvailable(tx, books);
  // Only now: a promise made meanwhile was made under the same lock.
  const promises = await promisesOf(tx, purse);
  const subjects = promises.map(({ subject }) => subject);
  const credits = await pendingCredits(tx, { ...books, subjects });
  const kept = toKeep(promises.map(({ net, subject }) => ({ net, coming: credits.get(subject) ?? 0n })));
  if (available < kept) throw shortOf(purse, amount);
}

export function shortOf({ chain, asset }: Purse, amount: bigint, cause?: unknown) {
  const decimals = findCurrency(asset)?.decimals ?? 0;
  return fault("insufficient_balance", { amount: formatDecimal(amount, decimals), asset, chain }, cause);
}

/** By payment: what the merchant gives, and the subject under which the books hold the payment's credit. */
async function promisesOf(tx: Tx, { merchantId, chain, asset }: Purse) {
  const net = sql<string>`sum(${refund.amount} - CASE WHEN ${refund.returnsFee} THEN ${refund.fee} ELSE 0 END)`;
  const rows = await tx
    .select({
      id: clearing.id,
      reference: clearing.providerReference,
      path: clearing.executionPath,
      net,
    })
    .from(refund)
    .innerJoin(clearing, and(eq(clearing.merchantId, refund.merchantId), eq(clearing.id, refund.clearingId)))
    .where(
      and(
        eq(refund.merchantId, merchantId),
        eq(refund.chain, chain),
        eq(refund.asset, asset),
        isNull(refund.reservedAt),
        // One that left the chain brings its money with it when it comes back; until then nothing is given for it.
        fixed(eq(clearing.state, "settled")),
        fixed(inArray(refund.state, ["pending", "requires-destination"])),
      ),
    )
    .groupBy(clearing.id, clearing.providerReference, clearing.executionPath);
  return rows.map((row) => ({
    // The facilitator books an agent's payment under its own id.
    subject: row.path === "x402" && row.reference ? row.reference : row.id,
    net: BigInt(row.net),
  }));
}
