import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as runMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import type { Log } from "#kernel/log";
import { sqlState } from "./sql-error.ts";

const LOCK = 4_020_402;
/** How long a table may be somebody else's; who asks for it behind us waits as long. */
const LOCK_MS = 60_000;

/** A database that this program must not work on; a sentence for the operator. */
export class MigrationProblem extends Error {}

export interface MigrateOptions {
  readonly url: string;
  readonly folder: string;
  readonly log?: Log;
  readonly lockMs?: number;
}

/** Brings the schema up to date as the owner of the database, all of it or nothing. Several processes may start at once:
 *  one migrates, the others wait. Throws `MigrationProblem`, and what the connection or a statement throws. */
export async function migrate({ url, folder, log, lockMs = LOCK_MS }: MigrateOptions): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "farebox-migrate",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await refuseEncoding(client);
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query("SELECT set_config('lock_timeout', $1, false)", [String(lockMs)]);
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
  } catch (error) {
    if (sqlState(error) !== "55P03") throw error;
    throw new MigrationProblem(
      "Tables of the database of DATABASE_URL are in use, and nothing was migrated. Stop every process of the earlier version, and what else reads or backs up the database, and start again.",
    );
  } finally {
    await client.end();
  }
}

/** Names and memos are in every language. */
async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  const encoding = rows[0]?.encoding;
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
