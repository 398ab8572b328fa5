import type { Clock } from "#kernel/clock";

/** Those who are on their way to something that is done for many at once. */
export interface Crowd {
  /** Counts as on the way until `work` has ended. */
  come<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nobody is on the way any more, or after a moment. */
  gathered(): Promise<void>;
}

/** Given to abort, which makes an exception with a stack for each call that has none. */
const THERE = "there";

/** Nobody is waited for longer than `longestMs`: who comes slowly comes with the next. */
export function crowd(clock: Clock, longestMs: number): Crowd {
  const waiting = new Set<AbortController>();
  let coming = 0;
  return {
    async come(work) {
      coming += 1;
      try {
        return await work();
      } finally {
        coming -= 1;
        if (coming === 0) for (const pause of waiting) pause.abort(THERE);
      }
    },
    async gathered() {
      if (coming === 0) return;
      const pause = new AbortController();
      waiting.add(pause);
      await clock.sleep(longestMs, pause.signal);
      waiting.delete(pause);
    },
  };
}
