/** What money that was sent to an order comes to: pure, the same for both paths that have orders. */
import { isDust } from "../money.ts";
import type { ClearingState, ClearingTrigger } from "../state.ts";
import type { Failure } from "../timeline.ts";

const SKEW_MS = 60_000;
const GRACE_MS = 10 * 60_000;
const LATE_MS = 7 * 86_400_000;

/** Parts of a deposit as the books take it. They add up to what came. */
export interface Parts {
  readonly toClearing: bigint;
  readonly toOverpayment: bigint;
  readonly toUnmatched: bigint;
}

/** A deposit that the books take now, and what it came to. */
export interface Coming {
  readonly amount: bigint;
  /** It came to the order that stands, in the order's own token. */
  readonly isOrdered: boolean;
  /** When it came. */
  readonly at: Date;
  readonly state: ClearingState;
  readonly expiresAt: Date;
  /** What the payer must send, the least of it that counts as paid, and what lies in the clearing already. */
  readonly due: bigint;
  readonly least: bigint;
  readonly held: bigint;
}

/** Where a deposit belongs: what is due to the clearing, what is beyond to the payer, and what cannot be told to nobody.
 *  Source: merchant-api.md §1.4. */
export function partsOf(coming: Coming): Parts {
  const { amount, due, held } = coming;
  const isStray = !coming.isOrdered || isOver(coming) || !isCounted(coming);
  if (isStray) return { toClearing: 0n, toOverpayment: 0n, toUnmatched: amount };
  const missing = held < due ? due - held : 0n;
  const toClearing = amount < missing ? amount : missing;
  return { toClearing, toOverpayment: amount - toClearing, toUnmatched: 0n };
}

/** Whether so much counts at all: dust does only where it completes the sum, since anybody can send it. */
export function isCounted({ amount, least, held }: Pick<Coming, "amount" | "least" | "held">): boolean {
  return !isDust(amount) || (held < least && held + amount >= least);
}

/** Its clearing takes no more money, whatever comes. */
function isOver({ state, at, expiresAt }: Coming): boolean {
  if (state === "settled" || state === "returned") return true;
  return at.getTime() > expiresAt.getTime() + LATE_MS;
}

/** Whether money that came at `at` is late. */
export function isLate(at: Date, expiresAt: Date): boolean {
  return at.getTime() > expiresAt.getTime() + SKEW_MS;
}

/** What is known of a clearing's money, all of it in the token of its order. */
export interface Standing {
  readonly state: ClearingState;
  readonly now: Date;
  readonly expiresAt: Date;
  /** What the payer must send, and the least of it that counts as paid. */
  readonly due: bigint;
  readonly least: bigint;
  /** Booked for the clearing and here. */
  readonly held: bigint;
  /** Some of that came after the window. */
  readonly hasLate: boolean;
  /** Seen in a block, not deep enough yet; without dust. */
  readonly coming: bigint;
  /** What of that came within the window. */
  readonly timely: bigint;
  /** What those confirmations take. */
  readonly depthMs: number;
  /** Money is booked that no step was taken for yet. */
  readonly hasNew: boolean;
  /** The same of money in another token, or for an order that was replaced. */
  readonly hasStray: boolean;
  /** Such money lies here, be it that it was decided to wait for more. */
  readonly holdsStray: boolean;
  /** Whether late money may still be taken at the rate of the order. */
  readonly isRateGood: boolean;
  /** An agent's payment of the same thing is under way: the two must not both count. */
  readonly isHeldByAgent: boolean;
  /** Something else pays the same, or has paid it: this money needs a person. */
  readonly isForeclosed: boolean;
}

export interface Decision {
  readonly trigger: ClearingTrigger;
  readonly cause: string;
  readonly failure?: Failure;
}

const UNDERPAID: Failure = {
  code: "deposit_underpaid",
  reason: "Less arrived than was due. Accept it, return it, or give the payer more time.",
};
const FORECLOSED: Decision = { trigger: "review", cause: "something else pays the same" };
const EXPIRED: Failure = { code: "order_expired", reason: "The window closed before any money came." };

/** The next step that the money calls for, if it calls for one. To be asked again after each step. */
export function decide(standing: Standing): Decision | null {
  switch (standing.state) {
    case "awaiting-funds":
      return whileAwaiting(standing);
    case "funds-detected":
      return whileDetected(standing);
    case "funds-received":
      if (standing.held >= standing.least) return { trigger: "settle", cause: "its funds are here" };
      return { trigger: "review", cause: "its funds left the chain", failure: UNDERPAID };
    case "settling":
      return { trigger: "credit", cause: "the evidence is complete" };
    case "in-review":
      return isGone(standing) && !standing.isHeldByAgent
        ? { trigger: "extend", cause: "none of its money is here any more" }
        : null;
    case "expired":
    case "failed":
      return whenEnded(standing);
    case "cancelled":
      return standing.hasNew && (standing.held > 0n || standing.hasStray)
        ? { trigger: "review", cause: "money came after it was cancelled" }
        : null;
    case "reversed":
      return standing.held + standing.coming >= standing.least
        ? { trigger: "detect", cause: "its money is on the chain again" }
        : null;
    default:
      return null;
  }
}

const isGone = ({ held, coming, holdsStray }: Standing) => held + coming === 0n && !holdsStray;
const isClosed = ({ now, expiresAt }: Standing) => isLate(now, expiresAt);

function whileAwaiting(standing: Standing): Decision | null {
  if (standing.hasStray) return { trigger: "review", cause: "money came that was not asked for" };
  const hasMoney = standing.held + standing.coming > 0n;
  if (hasMoney && standing.isForeclosed) return FORECLOSED;
  if (hasMoney) return { trigger: "detect", cause: "a deposit was seen" };
  if (!isClosed(standing) || standing.isHeldByAgent) return null;
  return ended(standing, "the window closed");
}

/** Money that lies here is never left behind an end: who waited for more must decide again. */
function ended({ holdsStray }: Standing, cause: string): Decision {
  return holdsStray ? { trigger: "review", cause } : { trigger: "expire", cause, failure: EXPIRED };
}

function whileDetected(standing: Standing): Decision | null {
  const { held, coming, least } = standing;
  if (standing.hasStray) return { trigger: "review", cause: "money came that was not asked for" };
  if (held + coming === 0n) {
    return isClosed(standing)
      ? ended(standing, "its deposits left the chain and the window closed")
      : { trigger: "lose", cause: "its deposits left the chain" };
  }
  if (standing.isForeclosed) return FORECLOSED;
  if (standing.isHeldByAgent) return null;
  if (held >= least) return isRestComing(standing) ? null : enough(standing, "receive");
  if (!isClosed(standing) || isStillComing(standing)) return null;
  return { trigger: "review", cause: "the window closed", failure: UNDERPAID };
}

/** Funds seen unconfirmed get their confirmations and ten minutes first; enough of them gets all the time it takes. */
function isStillComing(standing: Standing): boolean {
  const { held, coming, least } = standing;
  if (coming === 0n) return false;
  return held + coming >= least || isInGrace(standing);
}

/** What is within the tolerance is paid, but the rest that the payer sent in time belongs to it too. */
function isRestComing(standing: Standing): boolean {
  return standing.held < standing.due && standing.timely > 0n && isInGrace(standing);
}

function isInGrace({ now, expiresAt, depthMs }: Standing): boolean {
  return now.getTime() <= expiresAt.getTime() + depthMs + GRACE_MS;
}

function whenEnded(standing: Standing): Decision | null {
  const { held, coming, least, hasNew, hasStray } = standing;
  if (!hasNew || standing.isHeldByAgent) return null;
  if (standing.isForeclosed && (held > 0n || hasStray)) return FORECLOSED;
  if (held >= least) return enough(standing, "reopen");
  if (coming > 0n && !hasStray) return null;
  const isUnderpaid = held > 0n;
  return { trigger: "review", cause: "money came afterwards", ...(isUnderpaid && { failure: UNDERPAID }) };
}

/** Late money is taken by itself only at a rate that still holds. Source: merchant-api.md §1.4. */
function enough({ hasLate, isRateGood }: Standing, trigger: "receive" | "reopen"): Decision {
  if (!hasLate || isRateGood) return { trigger, cause: "the sum is confirmed" };
  return { trigger: "review", cause: "the money came late and the rate has moved" };
}

/** When a window that ends then is closed for good. */
export function closesAt(expiresAt: Date): Date {
  return new Date(expiresAt.getTime() + SKEW_MS + 1);
}

/** When to look again for the sake of the window; null where no time brings anything on. */
export function windowOf({ state, expiresAt, coming, depthMs }: Standing): Date | null {
  if (state !== "awaiting-funds" && state !== "funds-detected") return null;
  const grace = coming > 0n ? depthMs + GRACE_MS : 0;
  return new Date(closesAt(expiresAt).getTime() + grace);
}
