import { and, eq, inArray } from "drizzle-orm";
import { assert, type Fault } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import type { Executor } from "#store";
import type { ClearingRow } from "../../clearing/verbs/payment.ts";
import { findCurrency } from "../../http/currency.ts";
import { fault, invalid } from "../../http/faults.ts";
import { type MoneyInput, parseAmount } from "../../http/money.ts";
import { atLockedRate, feeOn, type LockedRate, remaining, type Share } from "../amount.ts";
import { countedStates } from "../state.ts";
import { refund } from "../tables.ts";

/** What a refund takes of its payment; everything that is left unless an amount is asked for, and no less than `least`
 *  (atomic units of the asset that was paid) of more. The payment's clearing is held. Faults: `payment_not_refundable` when nothing is left, `refund_exceeds_refundable`, `asset_mismatch`,
 *  `amount_too_small`, `too_many_decimals`. */
export async function shareOf(
  db: Executor,
  paid: ClearingRow,
  { asked, least }: { readonly asked: MoneyInput | undefined; readonly least: bigint },
): Promise<Share> {
  const earlier = await refundsOf(db, paid);
  const left = remaining({ amount: paid.settlementAmount, fee: paid.fee }, earlier);
  if (!asked) {
    if (left.amount === 0n) throw fault("payment_not_refundable", { why: "all of it has been refunded" });
    return left;
  }
  const amount = inPaidAsset(asked, paid, { left: left.amount, earlier: earlier.length });
  if (amount > left.amount) {
    const refundable = formatDecimal(left.amount, decimalsOf(paid.asset));
    throw fault("refund_exceeds_refundable", { refundable, asset: paid.asset, pointer: "/amount/amount" });
  }
  if (amount < least && amount < left.amount)
    throw tooSmall(paid.asset, least < left.amount ? least : left.amount);
  return { amount, fee: feeOn(amount, left) };
}

function refundsOf(db: Executor, { merchantId, id }: ClearingRow): Promise<Share[]> {
  return db
    .select({ amount: refund.amount, fee: refund.fee })
    .from(refund)
    .where(
      and(eq(refund.merchantId, merchantId), eq(refund.clearingId, id), inArray(refund.state, countedStates)),
    );
}

/** What was asked for, in atomic units of the asset that was paid. */
function inPaidAsset(
  asked: MoneyInput,
  paid: ClearingRow,
  of: { readonly left: bigint; readonly earlier: number },
): bigint {
  const { asset, rateFrom: currency } = paid;
  if (asked.asset !== asset && asked.asset !== currency) {
    const units = currency === asset ? asset : `${currency}, as it was priced, or in ${asset}`;
    throw fault("asset_mismatch", { units, pointer: "/amount/asset" });
  }
  const { amount } = parseAmount(asked, "/amount");
  if (amount === 0n) throw invalid("/amount/amount", "more than nothing");
  if (asked.asset === asset) return amount;
  const worth = atLockedRate(amount, lockedRate(paid), of);
  if (worth > 0n) return worth;
  throw tooSmall(asset, 1n);
}

function tooSmall(asset: string, least: bigint): Fault {
  const minimum = formatDecimal(least, decimalsOf(asset));
  return fault("amount_too_small", { asset, minimum, pointer: "/amount/amount" });
}

/** The rate that the payment was priced at, kept for the order's life and after. */
function lockedRate({ rateFrom, rateTo, scaledRate }: ClearingRow): LockedRate {
  return { scaledRate, fromDecimals: decimalsOf(rateFrom), toDecimals: decimalsOf(rateTo) };
}

function decimalsOf(asset: string): number {
  const unit = findCurrency(asset);
  assert(unit, `${asset} is not a unit that amounts are written in`);
  return unit.decimals;
}
