import { type Atomic, mulDivCeil } from "#kernel/money";

/** A rate or price of 1: they are integers × 10^18. */
export const ONE = 10n ** 18n;
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,40}))?$/;
const BPS = 10_000n;

/** `"1.0825"` → 1082500000000000000n. Digits beyond the 18th are cut: nobody quotes that finely. Null for anything
 *  that is not a number above zero written with digits. */
export function parseScaled(text: string): bigint | null {
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return null;
  const scaled = BigInt(whole + fraction.slice(0, 18).padEnd(18, "0"));
  return scaled > 0n ? scaled : null;
}

export interface Scale {
  /** Units of the target per one unit of the amount, × 10^18. */
  readonly scaledRate: bigint;
  readonly fromDecimals: number;
  readonly toDecimals: number;
}

/** What an amount comes to in another unit, rounded up to its smallest piece: the merchant is never short. */
export function toAtomic(amount: Atomic, { scaledRate, fromDecimals, toDecimals }: Scale): Atomic {
  return mulDivCeil(amount, scaledRate * 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals) * ONE);
}

/** a ÷ b as a scaled number, rounded up. */
export function divide(a: bigint, b: bigint): bigint {
  return mulDivCeil(a, ONE, b);
}

/** `rate` and so many basis points of it, rounded up. */
export function addBps(rate: bigint, bps: number): bigint {
  return mulDivCeil(rate, BPS + BigInt(bps), BPS);
}

/** The middle one; between the two middle ones, rounded up, of an even number. Throws for none. */
export function median(values: readonly bigint[]): bigint {
  const inOrder = sorted(values);
  const above = inOrder[Math.floor(inOrder.length / 2)];
  const below = inOrder[Math.floor((inOrder.length - 1) / 2)];
  if (above === undefined || below === undefined) throw new RangeError("the median of nothing");
  return (above + below + 1n) / 2n;
}

/** Whether the values lie further apart than so many basis points of the least. */
export function disagree(values: readonly bigint[], bps: number): boolean {
  const inOrder = sorted(values);
  const least = inOrder[0] ?? 0n;
  const most = inOrder.at(-1) ?? 0n;
  return (most - least) * BPS > least * BigInt(bps);
}

function sorted(values: readonly bigint[]): readonly bigint[] {
  return [...values].sort((a, b) => (a < b ? -1 : Number(a > b)));
}
