import type { Call } from "../../http/context.ts";
import { type Money, presentAmount } from "../../http/money.ts";
import { lyingOf } from "../money.ts";
import { loadPurse } from "../purse.ts";
import type { PaymentPath } from "../schema.ts";
import { findPayment } from "./payment.ts";

/** What came beyond what was due and still lies here, deposit by deposit: it is owed to its payer. Fault: `not_found`.
 *  Source: merchant-api.md §1.4. */
export async function readExcess({ ctx, input }: Call<PaymentPath>): Promise<readonly Money[]> {
  ctx.demand("payments:read");
  const { pool } = ctx.db;
  const { clearing } = await findPayment(pool, ctx.merchantId, input.id);
  if (!clearing) return [];
  const { deposits, returns } = await loadPurse(pool, clearing);
  return deposits
    .map((row) => ({ amount: lyingOf(row, returns).overpayment, asset: row.asset }))
    .filter(({ amount }) => amount > 0n)
    .map(presentAmount);
}
