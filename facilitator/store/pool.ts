import { setImmediate } from "node:timers/promises";
import pg from "pg";

/** Of one try for a connection; two make the longest wait. */
const TRY_MS = 700;
const TOO_LATE = /timeout exceeded when trying to connect|terminated due to connection timeout/;

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that asks twice for a connection. A process that was busy with a flood of requests sees its timers first and
 *  what its sockets have brought after them: the first time-out may say nothing but that, the second is the database's. */
export class PatientPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, connectionTimeoutMillis: TRY_MS });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    const client = this.#askTwice();
    if (!connected) return client;
    client.then(
      (found) => connected(undefined, found, () => found.release()),
      (error: Error) => connected(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #askTwice(): Promise<pg.PoolClient> {
    try {
      return await super.connect();
    } catch (error) {
      if (!(error instanceof Error && TOO_LATE.test(error.message))) throw error;
      await setImmediate();
      return super.connect();
    }
  }
}
