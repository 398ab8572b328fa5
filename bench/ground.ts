/** A PostgreSQL of a benchmark's own, with any number of migrated databases in it. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { migrate, openDatabase } from "#store";
import { startPostgres } from "../src/dev/postgres.ts";
import { resetDataFolder } from "../src/dev/reset.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
export const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** Its version, and how its compiler was told to optimise, on which what a settle costs depends. */
export async function postgresBuild(url: string): Promise<string> {
  const db = openDatabase({ url, log: silent, name: "bench", maxConnections: 1 });
  try {
    const { rows } = await db.pool.execute<{ version: string; level: string | null }>(sql`
      SELECT current_setting('server_version') AS version,
        (SELECT substring(setting FROM '-O\\w') FROM pg_config WHERE name = 'CFLAGS') AS level`);
    return `${rows[0]?.version}, compiled with ${rows[0]?.level ?? "what its compiler does by itself"}`;
  } finally {
    await db.close();
  }
}

export interface BenchPostgres {
  /** A new, migrated database; returns its URL. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

export async function openBenchPostgres(): Promise<BenchPostgres> {
  const dataDir = join(await mkdtemp(join(tmpdir(), "farebox-bench-")), "data");
  const server = await startPostgres({ dataDir, say: () => {} });
  return {
    async database(name) {
      const admin = openDatabase({ url: server.url, log: silent, name: "bench", maxConnections: 1 });
      await admin.pool.execute(sql.raw(`CREATE DATABASE ${name}`));
      await admin.close();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      await migrate({ url: url.href, folder: MIGRATIONS });
      return url.href;
    },
    async stop() {
      await server.stop();
      await resetDataFolder({ dataDir, say: () => {} });
    },
  };
}
