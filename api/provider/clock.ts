import { eq, sql } from "drizzle-orm";
import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import type { Database, Executor, Tx } from "#store";
import { sandboxClock } from "./tables.ts";

/** The merchants' clock of a sandbox: ahead of the machine's by what `POST /v1/test/advance-clock` added, in every
 *  process and after a restart. Why, and who goes by which: docs/decisions/0006. */
export interface MovableClock {
  /** `now` is moved; `monotonicMs` and `sleep` are the machine's. */
  readonly clock: Clock;
  /** Adds to the stored offset in the caller's transaction; the whole offset in seconds. */
  advance(tx: Tx, seconds: number): Promise<number>;
  /** Resolves when every process goes by what was committed before. */
  everywhere(): Promise<void>;
  /** Looks at the stored offset from now on. */
  start(): void;
  stop(): Promise<void>;
}

interface Needs {
  readonly db: Database;
  /** The machine's. */
  readonly clock: Clock;
  readonly log: Log;
}

const REFRESH_MS = 250;
const ROW = 1;

/** Knows the stored offset when it resolves. */
export async function openMovableClock({ db, clock, log }: Needs): Promise<MovableClock> {
  let offsetMs = await readOffset(db.pool);
  const stopping = new AbortController();
  let running = Promise.resolve();
  async function refresh(): Promise<void> {
    // Two answers may come in the wrong order; time does not go back.
    offsetMs = Math.max(offsetMs, await readOffset(db.pool));
  }
  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(REFRESH_MS, stopping.signal);
      await refresh().catch((error: unknown) =>
        log.warn(errorFields(error), "the sandbox's clock was not looked at; it is tried again"),
      );
    }
  }
  return {
    clock: {
      now: () => new Date(clock.now().getTime() + offsetMs),
      monotonicMs: () => clock.monotonicMs(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
    async advance(tx, seconds) {
      const [row] = await tx
        .insert(sandboxClock)
        .values({ id: ROW, offsetSeconds: seconds })
        .onConflictDoUpdate({
          target: sandboxClock.id,
          set: { offsetSeconds: sql`${sandboxClock.offsetSeconds} + ${seconds}` },
        })
        .returning({ offsetSeconds: sandboxClock.offsetSeconds });
      return row?.offsetSeconds ?? seconds;
    },
    async everywhere() {
      await refresh();
      await clock.sleep(2 * REFRESH_MS, stopping.signal);
    },
    start() {
      running = follow();
    },
    stop() {
      stopping.abort();
      return running;
    },
  };
}

async function readOffset(db: Executor): Promise<number> {
  const [row] = await db.select().from(sandboxClock).where(eq(sandboxClock.id, ROW));
  return (row?.offsetSeconds ?? 0) * 1_000;
}
