import type { Atomic } from "#kernel/money";

/** A part of a payment, in atomic units of its rail's asset: `fee` is our fee on it, part of `amount`. */
export interface Share {
  readonly amount: Atomic;
  readonly fee: Atomic;
}

/** What of a payment can still be refunded, and our fee on that. `refunds` are those that count. */
export function remaining(payment: Share, refunds: readonly Share[]): Share {
  return refunds.reduce(
    (left, refund) => ({ amount: left.amount - refund.amount, fee: left.fee - refund.fee }),
    { amount: payment.amount, fee: payment.fee },
  );
}

/** Our fee on a part of what remains, in proportion, rounded down. Never more than the part, and what remains takes what
 *  was cut: the fees of refunds that add up to the payment add up to its fee, in whatever order they are made or taken
 *  back. */
export function feeOn(amount: Atomic, left: Share): Atomic {
  return (left.fee * amount) / left.amount;
}

/** The rate at which a payment was priced, as it was locked: units of its asset per one of its currency, × 10^18. */
export interface LockedRate {
  readonly scaledRate: bigint;
  readonly fromDecimals: number;
  readonly toDecimals: number;
}

const ONE = 10n ** 18n;

/** A part given in the payment's currency, as the payer gets it: rounded down, so that parts never exceed the whole.
 *  What it would leave goes with it where the currency cannot name that any more: less than its smallest unit, or no more
 *  than rounding this part and the `earlier` ones down has cut. `left` is what can still be refunded. */
export function atLockedRate(
  asked: Atomic,
  { scaledRate, fromDecimals, toDecimals }: LockedRate,
  { left, earlier }: { readonly left: Atomic; readonly earlier: number },
): Atomic {
  const [per, of] = [scaledRate * 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals) * ONE];
  const amount = (asked * per) / of;
  const rest = left - amount;
  if (amount === 0n || rest <= 0n) return amount;
  return rest * of < per || rest <= BigInt(earlier + 1) ? left : amount;
}

/** Money of one payment that was promised to its payer and is not reserved yet. */
export interface Promised {
  /** What the merchant gives of it. */
  readonly net: Atomic;
  /** What the payment has yet to bring the merchant: credited in blocks that are not final. */
  readonly coming: Atomic;
}

/** What a merchant must keep for its promises: what their own payments will not bring by themselves. */
export function toKeep(promises: readonly Promised[]): Atomic {
  return promises.reduce((sum, { net, coming }) => sum + (net > coming ? net - coming : 0n), 0n);
}
