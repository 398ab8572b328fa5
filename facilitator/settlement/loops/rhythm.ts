/** When to look for the next block: often around the moment at which it is due, else at the usual pace; and where nobody
 *  waits for it, not before it should be there. Endpoints are paid by the question. */
export interface Rhythm {
  /** A new block was first seen, by a look at `atMs`. */
  saw(atMs: number): void;
  /** Milliseconds to the next look. */
  pause(nowMs: number, isAwaited: boolean): number;
  /** Milliseconds to the next block; null while no rhythm is known, or when the block is late. */
  untilBlock(nowMs: number): number | null;
}

const LOOK_MS = 15;
/** Around the moment that the last block and the chain's block time say. */
const EARLY_MS = 30;
const LATE_MS = 120;
/** The longest pause: leases are renewed between looks. */
const IDLE_MS = 2_000;

/** All in milliseconds of a monotonic clock; `blockMs` is the chain's block time, `paceMs` the usual pause. */
export function rhythm({ blockMs, paceMs }: { readonly blockMs: number; readonly paceMs: number }): Rhythm {
  let seenAt: number | null = null;
  return {
    saw(atMs) {
      seenAt = atMs;
    },
    pause(nowMs, isAwaited) {
      if (!isAwaited) {
        const dueMs = seenAt === null ? 0 : seenAt + blockMs + LATE_MS - nowMs;
        return Math.max(paceMs, Math.min(IDLE_MS, dueMs > 0 ? dueMs : blockMs / 2));
      }
      if (seenAt === null) return paceMs;
      const [from, to] = [seenAt + blockMs - EARLY_MS, seenAt + blockMs + LATE_MS];
      if (nowMs < from) return Math.min(paceMs, from - nowMs);
      return nowMs < to ? Math.min(paceMs, LOOK_MS) : paceMs;
    },
    untilBlock(nowMs) {
      if (seenAt === null || nowMs > seenAt + blockMs + LATE_MS) return null;
      return Math.max(0, seenAt + blockMs - nowMs);
    },
  };
}
