import type { GasBudgets } from "../../chain/gas-budgets.ts";

/** Gas of payments that failed counts so many times. Source: settlement.md §13. */
export const FAILED_COUNTS = 5;
/** So many failures within an hour, each after a simulation that passed, and a payer rests for an hour. */
export const FAILURES_UNTIL_REST = 3;
/** The most payments of a payer that may be under way on a chain, and of one that failed within the hour. Source:
 *  security.md §6. */
const MOST_OPEN = 1_000;
const MOST_OPEN_AFTER_FAILURE = 8;
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
  /** So many of them at most; null where only their gas counts. */
  readonly mostOpen: number | null;
}

export interface Exhausted {
  /** `open`: too many at once, whatever they burn. */
  readonly budget: Budget | "open";
  readonly retryAfterSeconds: number;
}

/** A payer starts small, and is small again while it has failed within the hour. */
export function payerLimit(budgets: GasBudgets, { hasPaid, failures }: PayerStanding): bigint {
  return hasPaid && failures === 0 ? budgets.payer : budgets.newPayer;
}

export function mostOpenOf({ failures }: PayerStanding): number {
  return failures === 0 ? MOST_OPEN : MOST_OPEN_AFTER_FAILURE;
}

/** The first budget without room for one more payment of `itemWei`, or null. What is under way is expected to turn out as
 *  what was burned before: of those that fail each counts five-fold before it has. */
export function exhausted(accounts: readonly Account[], itemWei: bigint): Exhausted | null {
  for (const { budget, limit, burn, open, mostOpen } of accounts) {
    if (mostOpen !== null && open >= mostOpen)
      return { budget: "open", retryAfterSeconds: UNDER_WAY_SECONDS };
    const each = burn.spentWei > 0n ? (itemWei * burn.wei) / burn.spentWei : itemWei;
    if (burn.wei + each * BigInt(open) + itemWei <= limit) continue;
    const isBurned = burn.wei + itemWei > limit;
    return { budget, retryAfterSeconds: isBurned ? Math.max(1, burn.secondsLeft) : UNDER_WAY_SECONDS };
  }
  return null;
}
