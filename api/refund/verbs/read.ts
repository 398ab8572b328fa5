import { and, desc, eq, lt } from "drizzle-orm";
import { findPayment } from "../../clearing/verbs/payment.ts";
import type { Call } from "../../http/context.ts";
import type { Page } from "../../http/page.ts";
import { presentRefund } from "../present.ts";
import type { Refund, RefundedPath, RefundPath } from "../schema.ts";
import { refund } from "../tables.ts";
import { findRefund } from "./move.ts";

/** Fault: `not_found`. */
export async function readRefund({ ctx, input }: Call<RefundPath>): Promise<Refund> {
  ctx.demand("payments:read");
  return presentRefund(await findRefund(ctx.db.pool, { merchantId: ctx.merchantId, id: input.id }));
}

/** The refunds of a payment, newest first; one more than the page holds when there are more. Fault: `not_found`. */
export async function listRefunds({ ctx, input }: Call<RefundedPath & Page>): Promise<readonly Refund[]> {
  ctx.demand("payments:read");
  const { merchantId, db } = ctx;
  const { clearing } = await findPayment(db.pool, merchantId, input.id);
  if (!clearing) return [];
  const rows = await db.pool
    .select()
    .from(refund)
    .where(
      and(
        eq(refund.merchantId, merchantId),
        eq(refund.clearingId, clearing.id),
        input.after === null ? undefined : lt(refund.id, input.after as `re_${string}`),
      ),
    )
    .orderBy(desc(refund.id))
    .limit(input.limit + 1);
  return rows.map(presentRefund);
}
