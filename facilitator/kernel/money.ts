/** Atomic units of one asset. Brand of intent, not of type: always a bigint, never a number. */
export type Atomic = bigint;
/** An amount and what it is of; the two never part. `amount` in atomic units of `asset`. */
export interface Money {
  readonly amount: Atomic;
  readonly asset: string;
}

const LIMIT = 1n << 128n;
const ATOMIC = /^(?:0|[1-9][0-9]{0,38})$/;
const DECIMAL = /^(0|[1-9]\d{0,14})(?:\.(\d{1,18}))?$/;

/** Digits only, below 2^128: no sign, leading zero, exponent or space. Null when the text is anything else. */
export function parseAtomic(text: unknown): Atomic | null {
  if (typeof text !== "string" || !ATOMIC.test(text)) return null;
  const amount = BigInt(text);
  return amount < LIMIT ? amount : null;
}

export type DecimalProblem = "not_a_decimal" | "too_many_decimals";

/** `"1.5"` with 6 decimals → 1500000n. More digits than the asset has are refused, never cut. */
export function parseDecimal(text: string, decimals: number): Atomic | DecimalProblem {
  const match = DECIMAL.exec(text);
  if (!match) return "not_a_decimal";
  const [, whole = "0", fraction = ""] = match;
  const significant = fraction.replace(/0+$/, "");
  if (significant.length > decimals) return "too_many_decimals";
  return BigInt(whole + significant.padEnd(decimals, "0"));
}

/** 1500000n with 6 decimals → `"1.500000"`: exactly the asset's decimals. */
export function formatDecimal(amount: Atomic, decimals: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, cut)}.${digits.slice(cut)}`;
}

/** amount × numerator ÷ denominator, rounded up: the merchant is never short. */
export function mulDivCeil(amount: Atomic, numerator: bigint, denominator: bigint): Atomic {
  return (amount * numerator + denominator - 1n) / denominator;
}

/** amount × numerator ÷ denominator, half to even: fees. */
export function mulDivHalfEven(amount: Atomic, numerator: bigint, denominator: bigint): Atomic {
  const product = amount * numerator;
  const floor = product / denominator;
  const twice = (product % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && floor % 2n === 1n);
  return up ? floor + 1n : floor;
}
