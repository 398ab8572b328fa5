/** A clock that stands still until it is told to go on. */
import { EventEmitter, once } from "node:events";
import type { Clock } from "#kernel/clock";

export interface ManualClock extends Clock {
  /** Lets `ms` pass, and everybody who slept that long wake up. */
  advance(ms: number): Promise<void>;
  /** How many sleep right now. */
  readonly sleepers: () => number;
  /** Resolves when so many sleep, or more. */
  asleep(count: number): Promise<void>;
}

const round = () => new Promise((resolve) => setImmediate(resolve));

export function manualClock(start = new Date("2026-08-11T09:30:00.000Z")): ManualClock {
  let elapsed = 0;
  const sleeping = new Set<{ readonly until: number; readonly wake: () => void }>();
  const events = new EventEmitter();
  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonicMs: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = () => {
          sleeping.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { until: elapsed + ms, wake };
        sleeping.add(sleeper);
        events.emit("asleep");
        signal?.addEventListener("abort", wake, { once: true });
      }),
    async advance(ms) {
      elapsed += ms;
      for (const { until, wake } of [...sleeping]) if (until <= elapsed) wake();
      await round();
    },
    sleepers: () => sleeping.size,
    async asleep(count) {
      for (await round(); sleeping.size < count; await round()) await once(events, "asleep");
    },
  };
}
