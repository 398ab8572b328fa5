import { and, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { countedStates } from "../state.ts";
import { refund } from "../tables.ts";

/** How much of a settled payment was given back. */
export interface Refunded {
  /** Given back, or on its way back. */
  readonly amount: bigint;
  /** What can still be refunded, in atomic units of the asset it was paid in. */
  readonly left: bigint;
  readonly asset: string;
  /** All that was given back has arrived. */
  readonly isDone: boolean;
}

/** By the ids of clearings; those without a refund are left out. */
export async function refundedOf(
  db: Executor,
  { merchantId, ids }: { readonly merchantId: string; readonly ids: readonly `clr_${string}`[] },
): Promise<ReadonlyMap<string, Refunded>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({
      id: clearing.id,
      asset: clearing.asset,
      amount: sql<string>`sum(${refund.amount})`,
      left: sql<string>`${clearing.settlementAmount} - sum(${refund.amount})`,
      isDone: sql<boolean>`bool_and(${refund.state} = 'succeeded')`,
    })
    .from(refund)
    .innerJoin(clearing, and(eq(clearing.merchantId, refund.merchantId), eq(clearing.id, refund.clearingId)))
    .where(
      and(
        eq(refund.merchantId, merchantId),
        inArray(refund.clearingId, [...ids]),
        inArray(refund.state, countedStates),
      ),
    )
    .groupBy(clearing.merchantId, clearing.id);
  return new Map(
    rows.map(({ id, amount, left, ...row }) => [id, { ...row, amount: BigInt(amount), left: BigInt(left) }]),
  );
}
