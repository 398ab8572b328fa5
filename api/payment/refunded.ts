import type { Executor } from "#store";
import type { MerchantCtx } from "../http/context.ts";
import { type Money, presentAmount } from "../http/money.ts";
import type { PaymentSummary } from "./schema.ts";

/** What was given back of settled payments, by the ids of their clearings; those without a refund are left out. Refunds are a
 *  later feature: it is handed in where the house is composed. */
export type RefundSums = (
  db: Executor,
  of: { readonly merchantId: string; readonly ids: readonly `clr_${string}`[] },
) => Promise<ReadonlyMap<string, { readonly amount: bigint }>>;

/** Of each payment, in their order; null where nothing was credited. */
export async function amountsRefunded(
  refunds: RefundSums,
  { db, merchantId }: MerchantCtx,
  payments: readonly Pick<PaymentSummary, "clearing">[],
): Promise<readonly (Money | null)[]> {
  const settled = payments.map(({ clearing }) => (clearing?.state === "settled" ? clearing : null));
  const ids = settled.flatMap((clearing) => (clearing ? [clearing.id as `clr_${string}`] : []));
  const sums = await refunds(db.pool, { merchantId, ids });
  return settled.map(
    (clearing) =>
      clearing &&
      presentAmount({
        amount: sums.get(clearing.id)?.amount ?? 0n,
        asset: clearing.settlementAmount.asset,
      }),
  );
}
