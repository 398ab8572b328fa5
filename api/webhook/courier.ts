import type { Clock, Random } from "#kernel/clock";
import { gate } from "#kernel/gate";
import type { NewId } from "#kernel/id";
import { errorFields, type Log } from "#kernel/log";
import { type Database, outageOf } from "#store";
import { takeEndpoints } from "./due.ts";
import { type Line, serveLine } from "./line.ts";
import { type Result, record } from "./record.ts";
import type { Seal } from "./seal.ts";
import type { Sender } from "./send.ts";

export interface CourierNeeds extends Sender {
  readonly db: Database;
  /** The machine's: leases, time-outs, and the time of signatures. */
  readonly clock: Clock;
  /** The merchants': when something is due. */
  readonly now: () => Date;
  readonly newId: NewId;
  readonly random: Random;
  readonly seal: Seal;
  readonly log: Log;
}
export interface Courier {
  readonly name: string;
  readonly everyMs: number;
  /** Looks for endpoints that something is due to and begins to serve them; how many. */
  turn(): Promise<number>;
  /** Resolves when nothing is served any more. */
  idle(): Promise<void>;
  /** Begins nothing more; what is under way has a moment to end. */
  stop(): Promise<void>;
}

const EVERY_MS = 250;
/** Served at the same time by one process, each with a few requests at once. */
const MOST_ENDPOINTS = 128;
/** Statements of all of them at the same time: the pool is shared with what moves money. */
const MOST_READS = 2;
const LAST_MOMENT_MS = 3_000;

/** Carries events to endpoints. What is to be sent are rows, so a process that ends loses nothing: another one takes its
 *  endpoints over and sends what was not written down as sent. Why a loop: docs/decisions/0008. */
export function createCourier(needs: CourierNeeds): Courier {
  const { db, clock, now, log } = needs;
  const stopping = new AbortController();
  const underWay = new Set<AbortController>();
  const serving = new Map<string, Promise<void>>();
  const line: Line = {
    ...needs,
    inTurn: gate(MOST_READS).enter,
    record: recorder(needs),
    stopping: stopping.signal,
    underWay,
  };
  const idle = async () => {
    while (serving.size > 0) await Promise.all(serving.values());
  };
  return {
    name: "webhooks",
    everyMs: EVERY_MS,
    async turn() {
      const limit = MOST_ENDPOINTS - serving.size;
      if (limit <= 0 || stopping.signal.aborted) return 0;
      const taken = await takeEndpoints(db, { now: now(), limit });
      for (const endpoint of taken) {
        const served = serveLine(line, endpoint)
          .catch((error: unknown) =>
            log.warn(
              { endpoint: endpoint.id, ...errorFields(error) },
              "an endpoint could not be served; it is taken up again later",
            ),
          )
          .finally(() => serving.delete(endpoint.id));
        serving.set(endpoint.id, served);
      }
      // The loop pauses in any case: each endpoint goes on by itself while something is due to it.
      return 0;
    },
    idle,
    async stop() {
      stopping.abort();
      await Promise.race([idle(), clock.sleep(LAST_MOMENT_MS)]);
      for (const each of underWay) each.abort();
      await idle();
    },
  };
}

const GROUP = 500;
/** A moment in which more results gather: nothing waits for them, save later events of the same thing. */
const GATHER_MS = 15;
const ENOUGH = 50;

/** Writes results in groups: while one is on its way the next gathers. Resolves when the result stands; rejects when it
 *  could not be written, and then the event is sent again. */
function recorder(needs: CourierNeeds): Line["record"] {
  let waiting: { readonly result: Result; done(): void; failed(error: unknown): void }[] = [];
  let isWriting = false;
  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP);
      waiting = waiting.slice(GROUP);
      try {
        await recordOrRetry(
          needs,
          group.map(({ result }) => result),
        );
        for (const each of group) each.done();
      } catch (error) {
        for (const each of group) each.failed(error);
      }
      if (waiting.length < ENOUGH) await needs.clock.sleep(GATHER_MS);
    }
    isWriting = false;
  }
  return (result) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ result, done: resolve, failed: reject });
      if (!isWriting) void write();
    });
}

const TRIES = 4;
const RETRY_MS = 250;

/** Written twice is written once: the first one changes the version. */
async function recordOrRetry(needs: CourierNeeds, results: readonly Result[], tries = TRIES): Promise<void> {
  try {
    await record(needs, results);
  } catch (error) {
    if (tries <= 1 || outageOf(error) === null) throw error;
    await needs.clock.sleep(RETRY_MS);
    await recordOrRetry(needs, results, tries - 1);
  }
}
