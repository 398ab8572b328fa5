import { and, eq, inArray } from "drizzle-orm";
import { isId } from "#kernel/id";
import type { Executor } from "#store";
import { clearing } from "../clearing/tables.ts";
import { refund } from "../refund/tables.ts";

/** The subjects that entries of the books carry which are about `named`: of a payment (`pi_…`, `clr_…`) its clearings,
 *  which its returns carry too, the settlements behind them, and its refunds; of anything else its own id. */
export async function subjectsOf(
  db: Executor,
  merchantId: string,
  named: string,
): Promise<readonly string[]> {
  const isPayment = isId("pi", named);
  if (!isPayment && !isId("clr", named)) return [named];
  const isIt = isPayment
    ? eq(clearing.intentId, named as `pi_${string}`)
    : eq(clearing.id, named as `clr_${string}`);
  const cleared = await db
    .select({ id: clearing.id, reference: clearing.providerReference })
    .from(clearing)
    .where(and(eq(clearing.merchantId, merchantId), isIt));
  const ids = cleared.map(({ id }) => id);
  const refunds = await db
    .select({ id: refund.id })
    .from(refund)
    .where(and(eq(refund.merchantId, merchantId), inArray(refund.clearingId, ids)));
  const settlements = cleared.flatMap(({ reference }) =>
    reference !== null && isId("stl", reference) ? [reference] : [],
  );
  return [...ids, ...settlements, ...refunds.map(({ id }) => id)];
}
