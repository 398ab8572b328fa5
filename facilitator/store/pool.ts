import { setImmediate } from "node:timers/promises";
import pg from "pg";

const WITHIN_MS = 1_500;
/** By how much a time-out that comes late was held up by this process itself. */
const LATE_MS = 100;
const TIMED_OUT = /timeout exceeded when trying to connect|terminated due to connection timeout/;

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that asks again for a connection when its own process was too busy to see that it came: after a flood of
 *  requests the timers are seen first, and what the sockets have brought only after them. */
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

  async #connect(): Promise<pg.PoolClient> {
    const began = performance.now();
    try {
      return await super.connect();
    } catch (error) {
      const isLate = performance.now() - began > WITHIN_MS + LATE_MS;
      if (!isLate || !(error instanceof Error && TIMED_OUT.test(error.message))) throw error;
      await setImmediate();
      return super.connect();
    }
  }
}
