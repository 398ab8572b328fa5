import { mulDivCeil, mulDivHalfEven } from "#kernel/money";
import type { clearing, clearingDeposit, clearingReturn } from "./tables.ts";

export type ClearingRow = typeof clearing.$inferSelect;
export type DepositRow = typeof clearingDeposit.$inferSelect;
export type ReturnRow = typeof clearingReturn.$inferSelect;

const BPS = 10_000n;
/** One cent of a 6-decimal coin: what is less is not looked at. */
const DUST = 10_000n;
/** From here on, in atomic units of a dollar or euro coin, a deposit must lie in a final block. */
const LARGE = 10_000_000_000n;

/** Our fee, half to even. Atomic units. */
export function feeOf(gross: bigint, feeBps: number): bigint {
  return mulDivHalfEven(gross, BigInt(feeBps), BPS);
}

/** The least that counts as paid. */
export function leastOf({
  sourceAmount,
  toleranceBps,
}: Pick<ClearingRow, "sourceAmount" | "toleranceBps">): bigint {
  return mulDivCeil(sourceAmount, BPS - BigInt(toleranceBps), BPS);
}

export function isDust(amount: bigint): boolean {
  return amount < DUST;
}

/** Confirmations that a deposit of an order needs, the inclusion block counted; a large one is final besides. */
export function requiredFor(
  amount: bigint,
  depth: { readonly standard: number; readonly high: number },
): { readonly confirmations: number; readonly mustBeFinal: boolean } {
  return amount < LARGE
    ? { confirmations: depth.standard, mustBeFinal: false }
    : { confirmations: depth.high, mustBeFinal: true };
}

/** Where booked money of a deposit lies now, after what went back. Atomic units of its asset. */
export interface Lying {
  readonly clearing: bigint;
  readonly overpayment: bigint;
  readonly unmatched: bigint;
}

export function lyingOf(deposit: DepositRow, returns: readonly ReturnRow[]): Lying {
  if (!deposit.isBooked) return { clearing: 0n, overpayment: 0n, unmatched: 0n };
  const gone = (source: ReturnRow["source"]) =>
    sum(
      returns.filter(
        (each) => each.depositId === deposit.id && each.source === source && each.state !== "failed",
      ),
    );
  const { toClearing, toOverpayment, toUnmatched, isMatched } = deposit;
  return {
    clearing: toClearing + (isMatched ? toUnmatched : 0n) - gone("clearing"),
    overpayment: toOverpayment - gone("overpayment"),
    unmatched: (isMatched ? 0n : toUnmatched) - gone("unmatched"),
  };
}

export function sum(rows: readonly { readonly amount: bigint }[]): bigint {
  return rows.reduce((total, { amount }) => total + amount, 0n);
}
