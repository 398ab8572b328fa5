import { setImmediate } from "node:timers/promises";
import pg from "pg";

const WITHIN_MS = 1_500;
/** By how much a time-out that comes late was held up by this process itself. */
const LATE_MS = 100;
/** The part of a wait that a process was at work in, from which on it says nothing about the database. */
const BUSY = 0.8;
const TRIES = 4;
const TIMED_OUT = /timeout exceeded when trying to connect|terminated due to connection timeout/;

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that asks again for a connection when its own process was too busy to see that it came: in a flood of requests
 *  a connection takes several turns of the loop, of which each may last half a second, and of what a turn finds the
 *  timers are seen before the sockets. */
export class PatientPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, connectionTimeoutMillis: WITHIN_MS });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    const client = this.#connect();
    if (!connected) return client;
    client.then(
      (found) => connected(undefined, found, () => found.release()),
      (error: Error) => connected(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connect(triesLeft = TRIES - 1): Promise<pg.PoolClient> {
    const began = performance.now();
    const load = performance.eventLoopUtilization();
    try {
      return await super.connect();
    } catch (error) {
      const isLate = performance.now() - began > WITHIN_MS + LATE_MS;
      const wasBusy = isLate || performance.eventLoopUtilization(load).utilization > BUSY;
      const isTimeOut = error instanceof Error && TIMED_OUT.test(error.message);
      if (!wasBusy || !isTimeOut || triesLeft === 0) throw error;
      await setImmediate();
      return this.#connect(triesLeft - 1);
    }
  }
}
