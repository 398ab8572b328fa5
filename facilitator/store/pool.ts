import { setImmediate } from "node:timers/promises";
import pg from "pg";

const WITHIN_MS = 1_500;
/** By how much a time-out that comes late was held up by this process itself. */
const LATE_MS = 100;
/** The part of a wait that a process was at work in, from which on it says nothing about the database. */
const BUSY = 0.8;
const TRIES = 4;
const TIMED_OUT = /timeout exceeded when trying to connect|terminated due to connection timeout/;

/** As many are opened without a wait. */
const FEW = 2;
/** So long somebody waits for a connection that another gives back before one more is opened. A statement takes a few
 *  milliseconds; a connection thirty of PostgreSQL's processor, and as much again for the tables and plans it has to
 *  learn. */
const ROOM_MS = 50;

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that opens one connection at a time, and only while those it has are not enough: after each start and each
 *  restart of the database a burst of requests would open all it may, and wait for them longer than for its statements.
 *  And it asks again for a connection when its own process was too busy to see that it came: in a flood of requests
 *  a connection takes several turns of the loop, of which each may last half a second, and of what a turn finds the
 *  timers are seen before the sockets. */
export class PatientPool extends pg.Pool {
  readonly #most: number;
  /** Of those in the pool, how many have been opened. */
  #open = 0;

  constructor(config: pg.PoolConfig & { readonly max: number }) {
    super({ ...config, max: Math.min(FEW, config.max), connectionTimeoutMillis: WITHIN_MS });
    this.#most = config.max;
    this.on("connect", () => {
      this.#open += 1;
    });
    this.on("remove", () => {
      this.#open -= 1;
      this.#lessRoom();
    });
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
      return await this.#takeTurn();
    } catch (error) {
      const isLate = performance.now() - began > WITHIN_MS + LATE_MS;
      const wasBusy = isLate || performance.eventLoopUtilization(load).utilization > BUSY;
      const isTimeOut = error instanceof Error && TIMED_OUT.test(error.message);
      if (!wasBusy || !isTimeOut || triesLeft === 0) throw error;
      await setImmediate();
      return this.#connect(triesLeft - 1);
    }
  }

  async #takeTurn(): Promise<pg.PoolClient> {
    if (this.options.max >= this.#most) return super.connect();
    const timer = setInterval(() => void this.#makeRoom(), ROOM_MS);
    try {
      return await super.connect();
    } finally {
      clearInterval(timer);
    }
  }

  /** Opens one more, for whoever waits longest. */
  async #makeRoom(): Promise<void> {
    await setImmediate(); // what was given back meanwhile is seen first
    const isOpening = this.totalCount > this.#open;
    if (isOpening || this.waitingCount === 0 || this.options.max >= this.#most) return;
    this.options.max += 1;
    await super.connect().then(
      (client) => client.release(),
      () => this.#lessRoom(), // who waits is told why when its own time is over
    );
  }

  #lessRoom(): void {
    this.options.max = Math.max(Math.min(FEW, this.#most), this.options.max - 1);
  }
}
