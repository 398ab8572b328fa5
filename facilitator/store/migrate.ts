import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as runMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import type { Log } from "#kernel/log";
import { sqlState } from "./sql-error.ts";

const LOCK = 4_020_402;
/** How long a table may be somebody else's; who asks for it behind us waits as long. */
const LOCK_MS = 60_000;
/** The first in which a role can be entered without its rights being had at all times. */
const LEAST_POSTGRES = 16;

/** A database that this program must not work on; a sentence for the operator. */
export class MigrationProblem extends Error {}

export interface MigrateOptions {
  readonly url: string;
  readonly folder: string;
  readonly log?: Log;
  readonly lockMs?: number;
  readonly leastPostgres?: number;
}

/** Brings the schema up to date as the owner of the database, all of it or nothing. Several processes may start at once:
 *  one migrates, the others wait. Throws `MigrationProblem`, and what the connection or a statement throws. */
export function migrate(options: MigrateOptions): Promise<void> {
  const { url, lockMs = LOCK_MS, leastPostgres = LEAST_POSTGRES } = options;
  return onConnection(url, async (client) => {
    await refuseServer(client, leastPostgres);
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query("SELECT set_config('lock_timeout', $1, false)", [String(lockMs)]);
    await bringUp(client, options).catch(tellInUse);
  });
}

/** `work` of one process after the other, as migrations are: for a schema that somebody else's code makes. */
export function inTurn(url: string, work: () => Promise<void>): Promise<void> {
  return onConnection(url, async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await work();
  });
}

async function onConnection(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "farebox-migrate",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function bringUp(client: pg.Client, { folder, log }: MigrateOptions): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder: folder }).map(({ folderMillis }) => folderMillis);
  const applied = await appliedTo(client);
  if (applied.some((each) => !known.includes(each)))
    throw new MigrationProblem(
      "The database of DATABASE_URL was migrated by another version of Farebox than this one, a later one perhaps. Start the version that migrated it, or put back the backup from before.",
    );
  const migrations = known.length - applied.length;
  const tells = migrations > 0 && applied.length > 0;
  if (tells) log?.info({ migrations }, "the database is being migrated");
  const began = performance.now();
  await runMigrations(drizzle(client), { migrationsFolder: folder });
  const seconds = Math.round((performance.now() - began) / 1_000);
  if (tells) log?.info({ migrations, seconds }, "the database was migrated");
}

function tellInUse(error: unknown): never {
  if (sqlState(error) !== "55P03") throw error;
  throw new MigrationProblem(
    "Tables of the database of DATABASE_URL are in use, and nothing was migrated. Stop every process of the earlier version, and what else reads or backs up the database, and start again.",
  );
}

/** One that has not what the migrations say, or not the letters: names and memos are in every language. */
async function refuseServer(client: pg.Client, leastPostgres: number): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('server_encoding') AS encoding`,
  );
  const { version, number, encoding } = rows[0] ?? { version: "none", number: 0, encoding: "none" };
  if (number < leastPostgres * 10_000)
    throw new MigrationProblem(
      `The database of DATABASE_URL is of PostgreSQL ${version}. Set DATABASE_URL to one of PostgreSQL ${leastPostgres} or newer.`,
    );
  if (encoding !== "UTF8")
    throw new MigrationProblem(
      `The database of DATABASE_URL is encoded in ${encoding}. Set DATABASE_URL to one that was created with ENCODING 'UTF8'.`,
    );
}

/** When the migrations were made that the database has. */
async function appliedTo(client: pg.Client): Promise<readonly number[]> {
  const table = "drizzle.__drizzle_migrations";
  const { rows: found } = await client.query("SELECT 1 WHERE to_regclass($1) IS NOT NULL", [table]);
  if (found.length === 0) return [];
  const { rows } = await client.query<{ at: string }>(`SELECT created_at AS at FROM ${table}`);
  return rows.map(({ at }) => Number(at));
}
