import type { Clock } from "#kernel/clock";

/** Of the calls of a second so much is kept for what moves money: settles and the observer. Source: security.md §6. */
const KEPT = 0.3;

/** The calls that a chain's endpoints take. */
export interface Allowance {
  /** One goes out, whoever asks. */
  spend(): void;
  /** Whether more are left than those that are kept. */
  hasSpare(): boolean;
}

/** So many calls a second, and a second's worth at once; without a bound where `perSecond` is null. What moves money is
 *  never held back: it takes what is left, and a second's worth ahead. Not a limiter that answers later: who looks and
 *  then asks must not be joined by others in between. */
export function allowance(clock: Clock, perSecond: number | null): Allowance {
  if (perSecond === null) return { spend() {}, hasSpare: () => true };
  const kept = Math.floor(KEPT * perSecond);
  let left = perSecond;
  let atMs = clock.monotonicMs();
  const now = () => {
    const nowMs = clock.monotonicMs();
    left = Math.min(perSecond, left + ((nowMs - atMs) / 1_000) * perSecond);
    atMs = nowMs;
    return left;
  };
  return {
    spend() {
      left = Math.max(-perSecond, now() - 1);
    },
    hasSpare: () => now() >= kept + 1,
  };
}
