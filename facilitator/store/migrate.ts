import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as runMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";

const LOCK = 4_020_402;

/** Brings the schema up to date as the owner of the database. Several processes may start at once: one migrates, the
 *  others wait. Throws what the connection or a statement throws. */
export async function migrate({ url, folder }: { url: string; folder: string }): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "farebox-migrate",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await runMigrations(drizzle(client), { migrationsFolder: folder });
  } finally {
    await client.end();
  }
}
