import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Meter } from "../engine.ts";

/** Given to abort, which makes an exception with a stack for each call that has none. */
const WOKEN = "woken";

/** Work that repeats: a step, then a pause or a wake-up. A step may ask for another pause than the usual one (ms).
 *  Nothing is carried from step to step that a row does not hold, so stopping at any point loses nothing. */
export interface Loop {
  readonly name: string;
  start(): void;
  /** Does not wait for the pause to end. */
  wake(): void;
  /** Resolves when the running step has finished. */
  stop(): Promise<void>;
}

const MAX_BACKOFF_MS = 5_000;

export function loop(
  {
    name,
    clock,
    log,
    meter,
    everyMs,
  }: { name: string; clock: Clock; log: Log; meter: Meter; everyMs: number },
  step: (stopping: AbortSignal) => Promise<unknown>,
): Loop {
  const stopping = new AbortController();
  let awake = new AbortController();
  let running = Promise.resolve();
  let failures = 0;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      awake = new AbortController();
      let wanted = everyMs;
      try {
        const asked = await step(stopping.signal);
        wanted = typeof asked === "number" ? asked : everyMs;
        failures = 0;
      } catch (error) {
        failures += 1;
        meter.count("loop_errors", { loop: name });
        log.warn(
          { loop: name, failures, ...errorFields(error) },
          "a loop's step failed; the next one starts from the rows",
        );
      }
      const pause = failures === 0 ? wanted : Math.min(everyMs * 2 ** failures, MAX_BACKOFF_MS);
      await clock.sleep(pause, failures === 0 ? awake.signal : stopping.signal);
    }
  }

  return {
    name,
    start() {
      running = run();
    },
    wake: () => awake.abort(WOKEN),
    stop() {
      stopping.abort(WOKEN);
      awake.abort(WOKEN);
      return running;
    },
  };
}
