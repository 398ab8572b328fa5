/** Real PostgreSQL connections, whose time is the simulation's. Statements and their BEGIN travel together. */
import type { Socket } from "node:net";
import pg from "pg";
import { NamingClient } from "../../../facilitator/store/named-statements.ts";
import { databaseAt } from "../../support/database-at.ts";

/** A statement that takes longer may be waiting for a lock: somebody looks, ms. */
const LOOK_AFTER_MS = 10;

export interface Connection {
  readonly client: pg.Client;
  readonly pid: number;
  /** What its clock was last set to. */
  timeSet: number;
}
/** A statement on its way; not `isWaiting` when its answer is there. */
export interface Running {
  readonly done: Promise<pg.QueryResult>;
  readonly isWaiting: boolean;
}
/** A statement that waits for a lock. Its caller hears nothing before `tell`: two that are freed at once would be heard
 *  in the order of the wire. */
interface Waiting {
  readonly answer: Promise<unknown>;
  readonly tell: () => void;
}

export class Backend {
  readonly #url: string;
  readonly #looking: pg.Client;
  readonly #pauseMs: number;
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  /** Connections with a transaction: only beside another one can a statement have to wait. */
  readonly inTransaction = new Set<Connection>();
  /** Who came first is told first. */
  readonly #waiting = new Map<Connection, Waiting>();

  private constructor(url: string, looking: pg.Client, pauseMs: number) {
    this.#url = url;
    this.#looking = looking;
    this.#pauseMs = pauseMs;
  }

  /** On a database that `prepareDatabase` has prepared; one that takes `pauseMs` longer for every answer, which must
   *  change nothing. */
  static async open(server: string, database: string, pauseMs = 0): Promise<Backend> {
    const url = databaseAt(server, database);
    const looking = new NamingClient({ connectionString: url });
    looking.on("error", () => {});
    await looking.connect();
    await looking.query("SET session_replication_role = replica");
    return new Backend(url, looking, pauseMs);
  }

  async acquire(): Promise<Connection> {
    return this.#idle.pop() ?? (await this.#connect());
  }

  async #connect(): Promise<Connection> {
    const options = { connectionString: this.#url, options: "-c role=farebox_app", pipeline: true };
    const client = new NamingClient(options);
    client.on("error", () => {});
    await client.connect();
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const made = { client, pid: rows[0]?.pid ?? 0, timeSet: Number.NaN };
    this.#all.push(made);
    return made;
  }

  release(connection: Connection): void {
    this.inTransaction.delete(connection);
    this.#idle.push(connection);
  }

  /** Runs a statement at `now`, the first one of a transaction right behind its BEGIN. */
  async execute(connection: Connection, query: Query, now: number, begin = false): Promise<Running> {
    const ahead: Promise<unknown>[] = [];
    const { stream } = (connection.client as unknown as { connection: { stream: Socket } }).connection;
    stream.cork();
    if (begin) {
      const clock = connection.timeSet === now ? "" : `; SET LOCAL ${clockAt(now)}`;
      ahead.push(connection.client.query(`BEGIN${clock}`));
      this.inTransaction.add(connection);
    } else if (connection.timeSet !== now && !this.inTransaction.has(connection)) {
      ahead.push(connection.client.query(`SET ${clockAt(now)}`));
      connection.timeSet = now;
    }
    const answer = connection.client.query(...query) as unknown as Promise<pg.QueryResult>;
    stream.uncork();
    answer.catch(() => {});
    await Promise.all(ahead);
    if (this.#pauseMs > 0) await later(this.#pauseMs);
    const others = this.inTransaction.size - (this.inTransaction.has(connection) ? 1 : 0);
    if (others === 0 || (await this.#hasAnswer(connection, answer)))
      return { done: answer, isWaiting: false };
    if (await this.#isDeadlocked(connection)) return this.#endFor(connection, answer);
    const told = new Promise<void>((tell) => this.#waiting.set(connection, { answer, tell }));
    return { done: told.then(() => answer), isWaiting: true };
  }

  /** False: it waits for what another transaction holds, as the lock table has it. */
  async #hasAnswer({ pid }: Connection, answer: Promise<unknown>): Promise<boolean> {
    const answered = answer.then(
      () => true,
      () => true,
    );
    for (;;) {
      if (await Promise.race([answered, later(LOOK_AFTER_MS)])) return true;
      if ((await this.#blockersOf(pid)).length > 0) return Promise.race([answered, later(0)]);
    }
  }

  async #blockersOf(pid: number): Promise<readonly number[]> {
    const text = "SELECT pg_blocking_pids($1) AS pids";
    return (await this.look<{ pids: number[] }>(text, [pid]))[0]?.pids ?? [];
  }

  /** Whether all would wait for each other. PostgreSQL would end whoever has waited for `deadlock_timeout`. */
  async #isDeadlocked({ pid }: Connection): Promise<boolean> {
    const pidsWaiting = new Set([...this.#waiting.keys()].map((each) => each.pid));
    const seen = new Set<number>();
    const open = [pid];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const blocker of await this.#blockersOf(at)) {
        if (blocker === pid) return true;
        if (!pidsWaiting.has(blocker) || seen.has(blocker)) continue;
        seen.add(blocker);
        open.push(blocker);
      }
    return false;
  }

  /** Always the one that came last, and at once. */
  async #endFor({ pid }: Connection, answer: Promise<unknown>): Promise<Running> {
    await this.look("SELECT pg_cancel_backend($1)", [pid]);
    await answer.catch(() => {});
    const error = new pg.DatabaseError("deadlock detected", 0, "error");
    const done = Promise.reject(Object.assign(error, { code: "40P01" }));
    done.catch(() => {});
    return { done, isWaiting: false };
  }

  /** Ends a transaction; what waited for it has its answer afterwards, or waits on for another one. */
  async end(connection: Connection, how: "COMMIT" | "ROLLBACK"): Promise<pg.QueryResult> {
    await this.#giveUp(connection);
    const result = await connection.client.query(how);
    if (this.#pauseMs > 0) await later(this.#pauseMs);
    this.inTransaction.delete(connection);
    for (const [waiting, { answer, tell }] of [...this.#waiting]) {
      if (!(await this.#hasAnswer(waiting, answer))) continue;
      this.#waiting.delete(waiting);
      tell();
    }
    return result;
  }

  /** Whoever is gone waits for no lock any more. */
  async #giveUp(connection: Connection): Promise<void> {
    const waiting = this.#waiting.get(connection);
    if (!waiting) return;
    this.#waiting.delete(connection);
    await this.look("SELECT pg_cancel_backend($1)", [connection.pid]);
    await waiting.answer.catch(() => {});
  }

  /** A look at committed rows, as the owner. */
  async look<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    // As an object: only those are planned once.
    return (await this.#looking.query<T>({ text }, [...values])).rows;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all.map(({ client }) => client.end()), this.#looking.end()]);
  }
}

/** What a client's `query` is called with. */
export type Query = [config: string | pg.QueryConfig, values?: unknown[]];

const clockAt = (now: number) => `simulated.now = '${new Date(now).toISOString()}'`;

const later = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false));
