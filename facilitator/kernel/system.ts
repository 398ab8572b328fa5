import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Clock, Random } from "./clock.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** The operating system's randomness. */
export const systemRandom: Random = { bytes: (length) => randomBytes(length) };
