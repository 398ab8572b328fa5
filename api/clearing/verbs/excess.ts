import { and, desc, eq, ne, sql } from "drizzle-orm";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { type Money, presentAmount } from "../../http/money.ts";
import { lyingOf } from "../money.ts";
import { loadPurse } from "../purse.ts";
import type { PaymentPath } from "../schema.ts";
import { clearing, clearingDeposit, clearingReturn } from "../tables.ts";
import { findPayment } from "./payment.ts";

/** What came beyond what was due and still lies here, deposit by deposit: it is owed to its payer. Fault: `not_found`.
 *  Source: merchant-api.md §1.4. */
export async function readExcess({ ctx, input }: Call<PaymentPath>): Promise<readonly Money[]> {
  ctx.demand("payments:read");
  const { pool } = ctx.db;
  const payment = await findPayment(pool, ctx.merchantId, input.id);
  if (!payment.clearing) return [];
  const { deposits, returns } = await loadPurse(pool, payment.clearing);
  return deposits
    .map((row) => ({ amount: lyingOf(row, returns).overpayment, asset: row.asset }))
    .filter(({ amount }) => amount > 0n)
    .map(presentAmount);
}

/** Deposits that are looked at, newest first: more would keep a busy merchant waiting. */
const MOST = 50_000;

/** The intents of which something came beyond what was due and still lies here, newest first. */
export async function listExcess({ db, merchantId }: MerchantCtx): Promise<readonly string[]> {
  const { clearingId, id, toOverpayment } = clearingDeposit;
  const recent = db.pool
    .select({ clearingId, id, toOverpayment })
    .from(clearingDeposit)
    .where(eq(clearingDeposit.merchantId, merchantId))
    .orderBy(desc(clearingId), desc(id))
    .limit(MOST)
    .as("recent");
  const gone = db.pool
    .select({ amount: sql`coalesce(sum(${clearingReturn.amount}), 0)` })
    .from(clearingReturn)
    .where(
      and(
        eq(clearingReturn.merchantId, merchantId),
        eq(clearingReturn.clearingId, recent.clearingId),
        eq(clearingReturn.depositId, recent.id),
        eq(clearingReturn.source, "overpayment"),
        ne(clearingReturn.state, "failed"),
      ),
    );
  const rows = await db.pool
    .selectDistinct({ id: clearing.intentId })
    .from(recent)
    .innerJoin(clearing, and(eq(clearing.merchantId, merchantId), eq(clearing.id, recent.clearingId)))
    .where(and(sql`${recent.toOverpayment} > 0`, sql`${recent.toOverpayment} > (${gone})`))
    .orderBy(desc(clearing.intentId));
  return rows.map((row) => row.id);
}
