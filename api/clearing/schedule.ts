/** When a clearing is looked at next: pure. */
import type { RailFacts } from "#facilitator";
import type { Seen } from "./deposits.ts";
import { type ClearingRow, lyingOf, type ReturnRow } from "./money.ts";

const SOONEST_MS = 250;
const LATEST_MS = 60_000;

interface Scheduling {
  readonly clearing: ClearingRow;
  readonly seen: readonly Seen[];
  readonly returns: readonly ReturnRow[];
  /** End of the window for the money, where it matters. */
  readonly windowAt: Date | null;
  /** A step was left for the next turn. */
  readonly isMidway: boolean;
  /** Of a chain, by its slug. */
  readonly factsOf: (chain: string) => Pick<RailFacts, "blockTimeSeconds" | "depth">;
  readonly now: Date;
}

/** Facts wake a clearing whenever something happens to its money; time alone brings confirmations, finality and the end
 *  of its window. Null when nothing is waited for. */
export function nextLook(scheduling: Scheduling): Date | null {
  const { now, windowAt, isMidway } = scheduling;
  if (isMidway) return now;
  // A window that has ended already waits for a fact.
  const dates = [
    windowAt && windowAt > now ? windowAt : null,
    confirmationsAt(scheduling),
    finalityAt(scheduling),
    returnsAt(scheduling),
  ].filter((date) => date !== null);
  return dates.reduce<Date | null>((first, date) => (first && first <= date ? first : date), null);
}

/** About half a block before the deposit that lacks most has what it needs, and then each half block. */
function confirmationsAt({ seen, factsOf, now }: Scheduling): Date | null {
  const waits = seen
    .filter(({ row, isCanonical }) => isCanonical && !row.isBooked)
    .map(({ row }) => {
      const { blockTimeSeconds, depth } = factsOf(row.chain);
      const missing = Math.max(depth.standard - row.confirmations, 1);
      return (missing - 0.5) * blockTimeSeconds * 1000;
    });
  return waits.length === 0 ? null : later(now, Math.min(...waits));
}

/** Finality is looked for more and more seldom: a third of the time that it has taken so far. */
function finalityAt({ clearing, seen, returns, factsOf, now }: Scheduling): Date | null {
  const isSettling = clearing.state === "settled" && !clearing.isFinal;
  const isReturning = returns.some(({ state }) => state === "decided");
  const open = seen.filter(({ row, isCanonical }) => isCanonical && row.isBooked && !row.isFinal);
  // What is beyond goes back by itself, be it final only after the payment is.
  const hasExcess = open.some(({ row }) => lyingOf(row, returns).overpayment > 0n);
  const [first] = open;
  if (!first || !(isSettling || isReturning || hasExcess || clearing.reviewRequired)) return null;
  const halfBlock = factsOf(first.row.chain).blockTimeSeconds * 500;
  const since = Math.max(first.row.firstSeenAt.getTime(), clearing.updatedAt.getTime());
  const age = now.getTime() - since;
  return later(now, Math.max(halfBlock, age / 3));
}

/** A return whose money is final and that was not handed on: its token is listed no more, or it ended unsent and is tried
 *  anew. No fact tells that it can leave. */
function returnsAt({ seen, returns, now }: Scheduling): Date | null {
  const isFinal = (id: string) => seen.some(({ row }) => row.id === id && row.isFinal);
  const isWaiting = returns.some(({ state, depositId }) => state === "decided" && isFinal(depositId));
  return isWaiting ? later(now, LATEST_MS) : null;
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + Math.min(Math.max(ms, SOONEST_MS), LATEST_MS));
}
