import { and, eq, inArray } from "drizzle-orm";
import { atParity } from "#kernel/asset";
import { assert } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import type { Executor } from "#store";
import { findCurrency } from "../../http/currency.ts";
import { fault } from "../../http/faults.ts";
import { type MoneyInput, parseAmount } from "../../http/money.ts";
import { rateSnapshot } from "../../rate/tables.ts";
import { atLockedRate, feeOn, type LockedRate, remaining, type Share } from "../amount.ts";
import { countedStates } from "../state.ts";
import { refund } from "../tables.ts";
import type { Payment } from "./payment.ts";

export type Paid = NonNullable<Payment["clearing"]>;
type Intent = Payment["intent"];

/** What a refund takes of its payment; everything that is left unless an amount is asked for. The payment's clearing is
 *  held. Faults: `payment_not_refundable` when nothing is left, `refund_exceeds_refundable`, `asset_mismatch`,
 *  `amount_too_small`, `too_many_decimals`. */
export async function shareOf(
  db: Executor,
  intent: Intent,
  paid: Paid,
  asked: MoneyInput | undefined,
): Promise<Share> {
  const earlier = await refundsOf(db, paid);
  const left = remaining({ amount: paid.settlementAmount ?? 0n, fee: paid.fee ?? 0n }, earlier);
  if (!asked) {
    if (left.amount === 0n) throw fault("payment_not_refundable", { why: "all of it has been refunded" });
    return left;
  }
  const amount = await inPaidAsset(
    db,
    { intent, paid, asked },
    { left: left.amount, earlier: earlier.length },
  );
  if (amount > left.amount) {
    const refundable = formatDecimal(left.amount, decimalsOf(paid.asset));
    throw fault("refund_exceeds_refundable", { refundable, asset: paid.asset, pointer: "/amount/amount" });
  }
  return { amount, fee: feeOn(amount, left) };
}

function refundsOf(db: Executor, { merchantId, id }: Paid): Promise<Share[]> {
  return db
    .select({ amount: refund.amount, fee: refund.fee })
    .from(refund)
    .where(
      and(eq(refund.merchantId, merchantId), eq(refund.clearingId, id), inArray(refund.state, countedStates)),
    );
}

interface Asked {
  readonly intent: Intent;
  readonly paid: Paid;
  readonly asked: MoneyInput;
}

/** What was asked for, in atomic units of the asset that was paid. */
async function inPaidAsset(
  db: Executor,
  { intent, paid, asked }: Asked,
  of: { readonly left: bigint; readonly earlier: number },
): Promise<bigint> {
  const { currency } = intent;
  if (asked.asset !== paid.asset && asked.asset !== currency)
    throw fault("asset_mismatch", { asset: paid.asset, currency, pointer: "/amount/asset" });
  const { amount } = parseAmount(asked, "/amount");
  if (amount === 0n) throw fault("validation_failed", { pointer: "/amount/amount" });
  if (asked.asset === paid.asset) return amount;
  const worth = atLockedRate(amount, await lockedRate(db, intent, paid), of);
  if (worth > 0n) return worth;
  const minimum = formatDecimal(1n, decimalsOf(paid.asset));
  throw fault("amount_too_small", { asset: paid.asset, minimum, pointer: "/amount/amount" });
}

const ONE = 10n ** 18n;

/** The rate that the payment was made at. One that was priced at parity needs none. */
async function lockedRate(db: Executor, { currency }: Intent, paid: Paid): Promise<LockedRate> {
  const decimals = { fromDecimals: decimalsOf(currency), toDecimals: decimalsOf(paid.asset) };
  if (paid.rateId === null) {
    assert(atParity(currency, paid.asset), `${paid.id} was paid at a rate that nobody kept`);
    return { ...decimals, scaledRate: ONE };
  }
  const [row] = await db
    .select({ scaledRate: rateSnapshot.scaledRate })
    .from(rateSnapshot)
    .where(and(eq(rateSnapshot.merchantId, paid.merchantId), eq(rateSnapshot.id, paid.rateId)));
  assert(row, `the rate of ${paid.id} is gone`);
  return { ...decimals, ...row };
}

function decimalsOf(asset: string): number {
  const unit = findCurrency(asset);
  assert(unit, `${asset} is not a unit that amounts are written in`);
  return unit.decimals;
}
