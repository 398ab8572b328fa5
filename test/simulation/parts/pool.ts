/** A pool as the store knows it, each of whose statements is a call of the scheduler and may fail in every way that a
 *  database does. Transactions and their faults are the store's own code; only the wire is made up. */
import pg from "pg";
import type { Backend, Connection, Query, Running } from "./backend.ts";
import type { Faults } from "./faults.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

export interface Wiring {
  readonly backend: Backend;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** Told of each statement that a transaction commits; asked for by oracles. */
  readonly committed: (owner: Owner, statements: readonly string[]) => Promise<void>;
}

const lost = () => new Error("Connection terminated unexpectedly");
const refused = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, message.length, "error"), { code });

export class SimulatedPool {
  readonly totalCount = 0;
  readonly idleCount = 0;
  readonly waitingCount = 0;
  readonly #wiring: Wiring;
  readonly #owner: Owner;
  readonly #open = new Set<SimulatedClient>();

  constructor(wiring: Wiring, owner: Owner) {
    this.#wiring = wiring;
    this.#owner = owner;
  }

  /** A lone statement. */
  query(...query: Query): Promise<pg.QueryResult> {
    const { scheduler, faults, backend } = this.#wiring;
    return scheduler.callThatMayWait<pg.QueryResult>(this.#owner, labelOf(query), null, async () => {
      if (faults.strikes("no-connection", 0.3)) throw refused("53300", "sorry, too many clients already");
      if (faults.strikes("statement-refused", 0.3))
        throw refused("57014", "canceling statement due to statement timeout");
      const connection = await backend.acquire();
      const { done, isWaiting } = await backend.execute(connection, query, scheduler.now);
      const freed = done.finally(() => backend.release(connection));
      const isLost = faults.strikes("answer-lost", 0.3);
      return { done: isLost ? freed.then(() => Promise.reject(lost())) : freed, isWaiting };
    });
  }

  async connect(): Promise<SimulatedClient> {
    const { scheduler, faults } = this.#wiring;
    if (faults.strikes("no-connection", 0.3))
      await scheduler.call(this.#owner, "connects in vain", () => Promise.reject(lost()));
    const alone = (...query: Query) => this.query(...query);
    const client = new SimulatedClient(this.#wiring, this.#owner, alone, () => this.#open.delete(client));
    this.#open.add(client);
    return client;
  }

  /** As the server does when a process is gone. */
  async abandon(): Promise<void> {
    for (const client of this.#open) await client.abandon();
    this.#open.clear();
  }

  async end(): Promise<void> {}
}

class SimulatedClient {
  readonly #wiring: Wiring;
  readonly #owner: Owner;
  readonly #alone: (...query: Query) => Promise<unknown>;
  readonly #gone: () => void;
  #connection: Connection | null = null;
  /** What happened to it: `aborted` refuses statements, `lost` everything. */
  #state: "new" | "open" | "aborted" | "lost" = "new";
  #isBegun = false;
  #statements: string[] = [];
  /** What was sent last: a connection does one thing after the other, however many it was sent. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(wiring: Wiring, owner: Owner, alone: (...query: Query) => Promise<unknown>, gone: () => void) {
    this.#wiring = wiring;
    this.#owner = owner;
    this.#alone = alone;
    this.#gone = gone;
  }

  on(): void {}
  off(): void {}
  release(): void {
    this.#gone();
  }

  query(...query: Query): Promise<unknown> {
    const next = () => this.#answer(query);
    const answer = this.#last.then(next, next);
    this.#last = answer;
    return answer;
  }

  async #answer(query: Query): Promise<unknown> {
    const [text] = query;
    if (text === "BEGIN") {
      this.#isBegun = true;
      return { command: "BEGIN" };
    }
    if (!this.#isBegun) return this.#alone(...query);
    if (text === "COMMIT") return this.#commit();
    if (text === "ROLLBACK") return this.#rollBack();
    return this.#statement(query);
  }

  #statement(query: Query): Promise<pg.QueryResult> {
    const { scheduler } = this.#wiring;
    const label = labelOf(query);
    return scheduler.callThatMayWait<pg.QueryResult>(this.#owner, `  ${label}`, this, async () => {
      if (this.#state === "lost") throw lost();
      if (this.#state === "aborted") throw refused("25P02", "current transaction is aborted");
      await this.#mayFail();
      this.#statements.push(label);
      return this.#connection ? this.#next(query) : this.#first(query);
    });
  }

  async #first(query: Query): Promise<Running> {
    const { backend, scheduler, faults } = this.#wiring;
    this.#connection = await backend.acquire();
    this.#state = "open";
    if (scheduler.exclusive === null && !faults.strikes("interleaved-transaction"))
      scheduler.exclusive = this;
    return backend.execute(this.#connection, query, scheduler.now, true);
  }

  #next(query: Query): Promise<Running> {
    const { backend, scheduler } = this.#wiring;
    return backend.execute(this.#connection as Connection, query, scheduler.now);
  }

  async #mayFail(): Promise<void> {
    const { faults } = this.#wiring;
    if (faults.strikes("connection-lost", 0.15)) {
      await this.abandon();
      this.#state = "lost";
      throw lost();
    }
    const refusals = [
      ["serialization-failure", "40001", "could not serialize access"],
      ["deadlock-victim", "40P01", "deadlock detected"],
    ] as const;
    for (const [kind, code, message] of refusals) {
      if (!faults.strikes(kind, 0.15)) continue;
      await this.abandon();
      this.#state = "aborted";
      throw refused(code, message);
    }
  }

  #commit(): Promise<unknown> {
    const { scheduler, faults, backend, committed } = this.#wiring;
    return scheduler.call(
      this.#owner,
      "  COMMIT",
      async () => {
        if (this.#state === "new") return { command: "COMMIT" };
        if (this.#state === "aborted") return { command: "ROLLBACK" };
        if (this.#state === "lost" || faults.strikes("commit-lost", 0.6)) {
          await this.abandon();
          throw lost();
        }
        const result = await backend.end(this.#connection as Connection, "COMMIT");
        this.#free();
        if (result.command === "COMMIT") await committed(this.#owner, this.#statements);
        if (faults.strikes("commit-unknown", 0.6)) throw lost();
        return result;
      },
      this,
    );
  }

  #rollBack(): Promise<unknown> {
    return this.#wiring.scheduler.call(
      this.#owner,
      "  ROLLBACK",
      async () => {
        await this.abandon();
        return { command: "ROLLBACK" };
      },
      this,
    );
  }

  /** Rolls back what is open. */
  async abandon(): Promise<void> {
    if (!this.#connection) return this.#free();
    const connection = this.#connection;
    connection.timeSet = Number.NaN;
    await this.#wiring.backend.end(connection, "ROLLBACK");
    this.#free();
  }

  #free(): void {
    const { backend, scheduler } = this.#wiring;
    if (this.#connection) backend.release(this.#connection);
    this.#connection = null;
    if (scheduler.exclusive === this) scheduler.exclusive = null;
  }
}

const labels = new Map<string, string>();

/** The beginning of a statement. */
function labelOf([config]: Query): string {
  const text = typeof config === "string" ? config : config.text;
  const known = labels.get(text);
  if (known) return known;
  const label = text.replace(/\s+/g, " ").trim().slice(0, 90);
  labels.set(text, label);
  return label;
}
