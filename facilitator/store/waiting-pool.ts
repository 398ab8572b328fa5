import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { outageOf } from "./db.ts";

export interface WaitingPoolOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** From then on a statement that fails is not sent again. */
  readonly stopping: AbortSignal;
}

const AGAIN_MS = 500;

/** A pool whose lone statements wait while the database is away: for a library that takes one that fails for the end of the
 *  process. Only for statements that may be sent twice. */
export class WaitingPool extends pg.Pool {
  readonly #stopping: AbortSignal;

  constructor({ url, maxConnections, stopping }: WaitingPoolOptions) {
    super({ connectionString: url, max: maxConnections });
    this.#stopping = stopping;
    // Whoever uses it listens as well, but not for as long as it lives.
    this.on("error", () => undefined);
    this.on("connect", (client) => client.on("error", () => undefined));
  }

  // biome-ignore lint/suspicious/noExplicitAny: every form of `query` that gives a promise, handed on as it came
  override async query(...statement: any[]): Promise<any> {
    for (;;) {
      try {
        return await super.query(...(statement as [string]));
      } catch (error) {
        if (this.#stopping.aborted || !outageOf(error)) throw error;
        await sleep(AGAIN_MS, undefined, { signal: this.#stopping }).catch(() => undefined);
      }
    }
  }
}
