import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Reading, Source } from "./source.ts";

export interface FeedDeps {
  readonly clock: Clock;
  readonly log: Log;
}
export interface Patience {
  /** A reading is shown again for so long before the source is asked anew. */
  readonly keepMs: number;
  /** After a failure the source is left alone for so long. */
  readonly retryMs: number;
  readonly timeoutMs: number;
}

/** The last reading of a source, of whatever age, and null when there was none. Asks at most one question at a time;
 *  never rejects, and answers within `timeoutMs`. */
export function feed(source: Source, { clock, log }: FeedDeps, patience: Patience) {
  let last: Reading | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    try {
      last = await withDeadline(clock, patience.timeoutMs, (signal) => source.read(signal));
      dueMs = clock.monotonicMs() + patience.keepMs;
    } catch (error) {
      dueMs = clock.monotonicMs() + patience.retryMs;
      log.warn({ source: source.name, ...errorFields(error) }, "a rate source gave no reading");
    } finally {
      asking = null;
    }
  }

  return async (): Promise<Reading | null> => {
    if (clock.monotonicMs() >= dueMs) {
      asking ??= ask();
      await asking;
    }
    return last;
  };
}

async function withDeadline<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  const done = new AbortController();
  const late = clock.sleep(ms, done.signal).then(() => {
    giveUp.abort();
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([work(giveUp.signal), late]);
  } finally {
    late.catch(() => {});
    done.abort();
  }
}
