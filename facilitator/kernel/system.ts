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

const POOL_BYTES = 4_096;
let pool: Buffer = Buffer.alloc(0);

/** The operating system's randomness, asked for in large pieces: an id takes many small ones. No byte is given twice. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > POOL_BYTES / 8) return randomBytes(length);
    if (pool.length < length) pool = randomBytes(POOL_BYTES);
    const taken = pool.subarray(0, length);
    pool = pool.subarray(length);
    return taken;
  },
};
