import type { GasBudgets } from "../../chain/gas-budgets.ts";

/** Gas of payments that failed counts so many times. Source: settlement.md §13. */
export const FAILED_COUNTS = 5;
/** So many failures within an hour, each after a simulation that passed, and a payer rests for an hour. */
export const FAILURES_UNTIL_REST = 3;
/** How long payments that are under way take to be done: then there is room again. */
const UNDER_WAY_SECONDS = 5;

/** Whose budget it is. */
export type Budget = "payer" | "payable" | "merchant" | "chain";

/** What was burned within the present hour, failed gas five-fold. */
export interface Burn {
  readonly wei: bigint;
  /** The same, what failed counted once. */
  readonly spentWei: bigint;
  /** Until the hour is over; 0 when nothing was burned. */
  readonly secondsLeft: number;
}
export const noBurn: Burn = { wei: 0n, spentWei: 0n, secondsLeft: 0 };

/** How a payer stands on a chain. */
export interface PayerStanding extends Burn {
  readonly hasPaid: boolean;
  readonly failures: number;
  readonly restSeconds: number;
  /** Its claims under way. */
  readonly open: number;
}
export const newPayer: PayerStanding = { ...noBurn, hasPaid: false, failures: 0, restSeconds: 0, open: 0 };

/** One budget, as it is asked for room. */
export interface Account {
  readonly budget: Budget;
  readonly limit: bigint;
  readonly burn: Burn;
  /** Payments under way whose gas is not known yet. */
  readonly open: number;
}

export interface Exhausted {
  readonly budget: Budget;
  readonly retryAfterSeconds: number;
}

/** A payer starts small, and is small again while it has failed within the hour. */
export function payerLimit(budgets: GasBudgets, { hasPaid, failures }: PayerStanding): bigint {
  return hasPaid && failures === 0 ? budgets.payer : budgets.newPayer;
}

/** The first budget without room for one more payment of `itemWei`, or null. What is under way is expected to turn out as
 *  what was burned before: of those that fail each counts five-fold before it has. */
export function exhausted(accounts: readonly Account[], itemWei: bigint): Exhausted | null {
  for (const { budget, limit, burn, open } of accounts) {
    const each = burn.spentWei > 0n ? (itemWei * burn.wei) / burn.spentWei : itemWei;
    if (burn.wei + each * BigInt(open) + itemWei <= limit) continue;
    const isBurned = burn.wei + itemWei > limit;
    return { budget, retryAfterSeconds: isBurned ? Math.max(1, burn.secondsLeft) : UNDER_WAY_SECONDS };
  }
  return null;
}
