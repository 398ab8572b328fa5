/** A database for simulations: migrated, in a hurry, and with a clock of its own. */
import pg from "pg";
import { databaseAt } from "../../support/database-at.ts";

/** `now()` is what the session was told. The order of rows without an ORDER BY must not depend on what ran before, so
 *  plans do not either: always by index, always in a loop, and by no statistics. */
const prepared = `
  CREATE SCHEMA simulated;
  GRANT USAGE ON SCHEMA simulated TO farebox_app;
  CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT current_setting('simulated.now')::timestamptz $$;
  DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_default LIKE '%now()%' LOOP
      EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET DEFAULT simulated.now()', found.table_name, found.column_name);
    END LOOP;
    FOR found IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = false)', found.tablename);
    END LOOP;
  END $$;`;

const settings = {
  search_path: "simulated, public, pg_catalog",
  synchronous_commit: "off",
  // The simulation sees by itself who waits for whom.
  deadlock_timeout: "'1h'",
  jit: "off",
  // Nobody watches: a statement is spared what would be told of it.
  track_activities: "off",
  track_counts: "off",
  update_process_title: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
};

/** Makes `database` of a migrated template. */
export async function prepareDatabase(server: string, template: string, database: string): Promise<void> {
  await asOwner(server, async (admin) => {
    await admin.query(`CREATE DATABASE ${database} TEMPLATE ${template}`);
    for (const [name, value] of Object.entries(settings))
      await admin.query(`ALTER DATABASE ${database} SET ${name} = ${value}`);
  });
  await asOwner(databaseAt(server, database), (admin) => admin.query(prepared));
}

export async function dropDatabase(server: string, database: string): Promise<void> {
  await asOwner(server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
}

async function asOwner(url: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  admin.on("error", () => {});
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
