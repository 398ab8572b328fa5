/** A database of one's own, cloned from the migrated template. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "#store";
import { databaseAt, TEMPLATE } from "./database-at.ts";
import { silentLog } from "./dev-chain.ts";
import { shared } from "./shared.ts";

export interface TestDatabase {
  readonly url: string;
  /** As the service's own role. */
  readonly db: Database;
  /** As the owner: for looking, and for doing what the service may not. */
  query<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<T[]>;
  drop(): Promise<void>;
}

export function freshDatabase(): Promise<TestDatabase> {
  return cloneOf(TEMPLATE);
}

/** One for all tests of the file. */
export function sharedDatabase(): TestDatabase {
  return shared(freshDatabase, (database) => database.drop());
}

/** What a database holds now, as a backup would have it. Nobody else may be connected to it. */
export async function backupOf({ url }: TestDatabase): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1);
  await withAdmin(
    inject("databaseUrl"),
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
  );
  return cloneOf(name);
}

async function cloneOf(template: string): Promise<TestDatabase> {
  const server = inject("databaseUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  // File by file: page by page, it would go through the server's memory, of which little is asked for later.
  await withAdmin(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = databaseAt(server, name);
  const db = openDatabase({ url, log: silentLog, name: "test", maxConnections: 6, role: "farebox_app" });
  const owner = new pg.Pool({ connectionString: url, max: 2 });
  owner.on("error", () => {});
  return {
    url,
    db,
    query: async <T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await owner.query<T>(text, [...values])).rows,
    async drop() {
      await Promise.all([db.close(), owner.end()]);
      await withAdmin(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function withAdmin(url: string, statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  admin.on("error", () => {});
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
