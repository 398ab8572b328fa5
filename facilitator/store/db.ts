import type { SQL } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import { assert, Fault, fault } from "#kernel/fault";
import type { Log } from "#kernel/log";
import { errorFields } from "#kernel/log";
import { NamingClient } from "./named-statements.ts";
import { PatientPool } from "./pool.ts";
import { sqlState } from "./sql-error.ts";

/** A transaction: everything done through it commits or rolls back together. */
export type Tx = NodePgDatabase & { readonly $inTransaction: true };
/** A transaction, or the pool itself for a lone statement. */
export type Executor = NodePgDatabase;

export interface DbOptions {
  readonly url: string;
  readonly log: Log;
  readonly maxConnections: number;
  /** What it is for; shown in pg_stat_activity. */
  readonly name: string;
  /** The role entered by every connection; none for the owner, who migrates. */
  readonly role?: "farebox_app";
  /** For statements that need few rows of tables which grow: a table is not read from end to end where an index serves,
   *  and a prepared statement is planned once, whatever its values. Plans are kept, and one that was made while a table
   *  was small would go through all of it for long; a statement with lists PostgreSQL would plan anew each time, in the
   *  hope of a better plan, and that takes several times as long as the statement. */
  readonly byIndex?: boolean;
  /** For searches, whose words decide which index is the shorter way: planned for them each time, and as for pages that
   *  lie in memory (docs/decisions/0026). */
  readonly bySearch?: boolean;
  /** How long a statement may take, ms; 5,000 where it is left out. */
  readonly statementMs?: number;
}

export interface Database {
  /** For a lone statement. */
  readonly pool: Executor;
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A lone statement that writes: it commits by itself, and its faults are those of `tx`. */
  write(statement: SQL): Promise<pg.QueryResult<Record<string, unknown>>>;
  usage(): { readonly total: number; readonly idle: number; readonly waiting: number };
  close(): Promise<void>;
}

/** Statements of a transaction that do not need each other's answers are sent one behind the other (`together`). */
const pipelined = { pipeline: true };

const STATEMENT_MS = 5_000;
/** The server ends a statement that takes too long, and is given this much longer to say so, ms. */
const SILENCE_MS = 4_000;
/** A connection knows tables and plans by heart: a new one, after a rest, needs twice the time for its first payments. */
const IDLE_TIMEOUT_MS = 600_000;

/** Opens a pool. Faults of its calls: `database_unavailable` when no connection can be had, `commit_unknown` when a
 *  COMMIT was sent and its answer never came: re-read before anything else. */
export function openDatabase(options: DbOptions): Database {
  const { url, log, maxConnections, name, role, byIndex, bySearch, statementMs = STATEMENT_MS } = options;
  const settings = {
    ...(role ? { role } : {}),
    ...(byIndex ? { enable_seqscan: "off", plan_cache_mode: "force_generic_plan" } : {}),
    ...(bySearch
      ? { seq_page_cost: "0.1", random_page_cost: "0.1", plan_cache_mode: "force_custom_plan" }
      : {}),
    // As columns.ts and drizzle read them, whatever the database or its user has set.
    bytea_output: "hex",
    datestyle: "ISO",
    timezone: "UTC",
    statement_timeout: statementMs,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
  };
  const pool = new PatientPool({
    ...pipelined,
    Client: NamingClient,
    connectionString: url,
    application_name: `farebox-${name}`,
    max: maxConnections,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Longer than any statement may take: a host that vanished without a word must not hold its caller for ever.
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    options: Object.entries(settings)
      .map(([key, value]) => `-c ${key}=${value}`)
      .join(" "),
  });
  // An idle connection that dies is replaced by the pool; without a listener it would end the process.
  pool.on("error", (error) => log.warn(errorFields(error), "an idle database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => {}));
  return databaseOn(pool);
}

/** The same on a pool that was made elsewhere. */
export function databaseOn(pool: pg.Pool): Database {
  return {
    pool: drizzle(pool),
    tx: (work) => runTx(pool, work),
    write: (statement) => runWrite(pool, statement),
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}

/** Runs `work` in a transaction of `db`, or in the one that `db` already is. */
export function withTx<T>(db: Database | Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return "$inTransaction" in db ? work(db) : db.tx(work);
}

async function runTx<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const whole = async (client: pg.PoolClient) => {
    await client.query("BEGIN");
    const result = await work(Object.assign(drizzle(client), { $inTransaction: true as const }));
    await commit(client);
    return result;
  };
  return onConnection(pool, whole, (client) => client.query("ROLLBACK"));
}

async function runWrite(pool: pg.Pool, statement: SQL): Promise<pg.QueryResult<Record<string, unknown>>> {
  return onConnection(pool, async (client) => {
    try {
      return await drizzle(client).execute(statement);
    } catch (error) {
      // Refused or cancelled it has done nothing.
      if (/^(?!08|57P|58)/.test(sqlState(error) ?? "08")) throw error;
      throw fault("commit_unknown", {}, error);
    }
  });
}

/** Work on a connection of the pool, which is given back, or given up where it was lost; `undo` is for work that failed. */
async function onConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  undo: (client: pg.PoolClient) => Promise<unknown> = async () => undefined,
): Promise<T> {
  const client = await checkOut(pool);
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  // pg emits `error` on a checked-out client whose backend dies; the query rejects as well.
  client.on("error", onError);
  try {
    return await work(client);
  } catch (error) {
    if (isUnanswered(error) || isReadOnly(error)) broken = error as Error;
    if (!broken) await undo(client).catch((lost: Error) => (broken = lost));
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

/** Nothing more is asked on a connection that fell silent: ROLLBACK would wait as long again. */
function isUnanswered(error: unknown): boolean {
  return causes(error).some(({ message }) => message === "Query read timeout");
}

/** A server that became another's standby keeps its connections: who connects anew is led to the one that takes writes. */
function isReadOnly(error: unknown): boolean {
  return sqlState(error) === "25006";
}

async function checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw fault("database_unavailable", {}, error);
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await sendCommit(client);
  // A statement failed and its error was swallowed: PostgreSQL answers COMMIT with ROLLBACK, and no error.
  assert(command === "COMMIT", "a transaction went on after a failed statement; nothing was committed");
}

async function sendCommit(client: pg.PoolClient): Promise<pg.QueryResult> {
  try {
    return await client.query("COMMIT");
  } catch (error) {
    // A server-side refusal (a deferred constraint, say) carries a SQLSTATE of its own class and is a known "no".
    if (error instanceof pg.DatabaseError && !/^(08|57|58)/.test(error.code ?? "08")) throw error;
    throw fault("commit_unknown", {}, error);
  }
}

const CONNECTION_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND"],
  ...["EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
]);

/** The outage behind an error: a fault of that kind as it is, a lost, full or overloaded database as `database_unavailable`,
 *  as is a transaction that was ended for another one's sake; null for anything else, which is a refusal or a bug. */
export function outageOf(error: unknown): Fault | null {
  if (error instanceof Fault)
    return error.kind === "unavailable" || error.kind === "dependency" ? error : null;
  return causes(error).some(isLostDatabase) ? fault("database_unavailable", {}, error) : null;
}

function causes(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}

const LOST =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after/;

function isLostDatabase(error: Error & { code?: unknown; syscall?: unknown }): boolean {
  const code = typeof error.code === "string" ? error.code : "";
  // A server that listens at a Unix socket takes it away while it restarts.
  if (code === "ENOENT" && error.syscall === "connect") return true;
  if (CONNECTION_CODES.has(code) || /^(?:08|53|57|58|25006|25P03|55P03|40001|40P01)/.test(code)) return true;
  return code === "" && LOST.test(error.message);
}
