import type { PaymentDesk } from "../../clearing/verbs/payment.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import type { Page } from "../../http/page.ts";
import type { PaymentFilter } from "../../payment/schema.ts";
import { type FoundPayment, listPayments } from "../../payment/verbs.ts";
import { type Refunded, refundedOf } from "../../refund/verbs/refunded.ts";

/** A payment as lists show it: what was given back of it counts for how it stands. */
export interface ListedPayment extends FoundPayment {
  /** Null where nothing was. */
  readonly refunded: Refunded | null;
}

/** As `listPayments`. */
export async function listShown(
  desk: PaymentDesk,
  call: Call<Page & PaymentFilter>,
): Promise<readonly ListedPayment[]> {
  return withRefunds(call.ctx, await listPayments(desk, call));
}

export async function withRefunds(
  { db, merchantId }: MerchantCtx,
  rows: readonly FoundPayment[],
): Promise<readonly ListedPayment[]> {
  const ids = rows.flatMap(({ clearing }) => (clearing?.state === "settled" ? [clearing.id] : []));
  const refunded = await refundedOf(db.pool, { merchantId, ids: ids as `clr_${string}`[] });
  return rows.map((row) => ({ ...row, refunded: refunded.get(row.clearing?.id ?? "") ?? null }));
}
