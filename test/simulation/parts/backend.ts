/** Real PostgreSQL connections, whose time is the simulation's. Statements and their BEGIN travel together. */
import type { Socket } from "node:net";
import type pg from "pg";
import { NamingClient } from "../../../facilitator/store/named-statements.ts";
import { databaseAt } from "../../support/database-server.ts";

/** Longest that a statement may take before somebody looks whether it waits for a lock, ms. */
const LOOK_AFTER_MS = 25;

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

export class Backend {
  readonly #url: string;
  readonly #looking: pg.Client;
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  /** Connections with a transaction: only beside another one can a statement have to wait. */
  readonly inTransaction = new Set<Connection>();
  readonly #waiting = new Map<Connection, Promise<unknown>>();

  private constructor(url: string, looking: pg.Client) {
    this.#url = url;
    this.#looking = looking;
  }

  /** On a database that `prepareTemplate` has prepared. */
  static async open(server: string, database: string): Promise<Backend> {
    const url = databaseAt(server, database);
    const looking = new NamingClient({ connectionString: url });
    looking.on("error", () => {});
    await looking.connect();
    await looking.query("SET session_replication_role = replica");
    return new Backend(url, looking);
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
    if (connection.timeSet !== now && (begin || !this.inTransaction.has(connection))) {
      ahead.push(connection.client.query(`SET simulated.now = '${new Date(now).toISOString()}'`));
      connection.timeSet = now;
    }
    if (begin) {
      ahead.push(connection.client.query("BEGIN"));
      this.inTransaction.add(connection);
    }
    const done = connection.client.query(...query) as unknown as Promise<pg.QueryResult>;
    stream.uncork();
    await Promise.all(ahead);
    const others = this.inTransaction.size - (this.inTransaction.has(connection) ? 1 : 0);
    const isWaiting = others > 0 && !(await this.#hasAnswer(connection, done));
    return { done, isWaiting };
  }

  async #hasAnswer(connection: Connection, done: Promise<unknown>): Promise<boolean> {
    const answered = done.then(
      () => true,
      () => true,
    );
    for (;;) {
      if (await Promise.race([answered, later(LOOK_AFTER_MS)])) return true;
      const { rows } = await this.#looking.query<{ waits: boolean }>(
        "SELECT wait_event_type = 'Lock' AS waits FROM pg_stat_activity WHERE pid = $1",
        [connection.pid],
      );
      if (!rows[0]?.waits || (await Promise.race([answered, later(0)]))) continue;
      this.#waiting.set(connection, answered);
      return false;
    }
  }

  /** Ends a transaction; what waited for it has its answer afterwards, or waits on for another one. */
  async end(connection: Connection, how: "COMMIT" | "ROLLBACK"): Promise<pg.QueryResult> {
    const result = await connection.client.query(how);
    this.inTransaction.delete(connection);
    for (const [waiting, answered] of [...this.#waiting]) {
      this.#waiting.delete(waiting);
      await this.#hasAnswer(waiting, answered);
    }
    return result;
  }

  /** A look at committed rows, as the owner. */
  async look<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.#looking.query<T>(text, [...values])).rows;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all.map(({ client }) => client.end()), this.#looking.end()]);
  }
}

/** What a client's `query` is called with. */
export type Query = [config: string | pg.QueryConfig, values?: unknown[]];

const later = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false));
