import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { migrate } from "#store";
import { atPort, databaseAt } from "../../support/database-at.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { scratch } from "../../support/scratch.ts";

const folder = fileURLToPath(new URL("../../../migrations", import.meta.url));

async function query<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

async function emptyDatabase(): Promise<string> {
  const server = inject("databaseUrl");
  const name = `empty_${randomBytes(6).toString("hex")}`;
  await query(server, `CREATE DATABASE ${name}`);
  onTestFinished(async () => void (await query(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  return databaseAt(server, name);
}

const applied = async (url: string) =>
  (await query<{ hash: string }>(url, "SELECT hash FROM drizzle.__drizzle_migrations ORDER BY id")).map(
    ({ hash }) => hash,
  );
const JOURNAL = "meta/_journal.json";
const readJournal = async () =>
  JSON.parse(await readFile(join(folder, JOURNAL), "utf8")) as { readonly entries: readonly unknown[] };
const journal = async () => (await readJournal()).entries.length;

/** The migrations of the version before. */
async function folderBeforeLast(): Promise<string> {
  const earlier = await mkdtemp(join(scratch(), "migrations-"));
  onTestFinished(() => rm(earlier, { recursive: true }));
  await cp(folder, earlier, { recursive: true });
  const { entries, ...rest } = await readJournal();
  await writeFile(join(earlier, JOURNAL), JSON.stringify({ ...rest, entries: entries.slice(0, -1) }));
  return earlier;
}
const tables = async (url: string) =>
  (
    await query<{ name: string }>(
      url,
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    )
  ).map(({ name }) => name);

describe("migrate", () => {
  it("makes the schema out of nothing, and a second time changes nothing", async () => {
    const url = await emptyDatabase();
    await migrate({ url, folder });
    const first = { applied: await applied(url), tables: await tables(url) };
    expect(first.applied).toHaveLength(await journal());
    expect(first.tables).toEqual(expect.arrayContaining(["claim", "ledger_transfer", "outbox"]));
    await migrate({ url, folder });
    expect({ applied: await applied(url), tables: await tables(url) }).toEqual(first);
  });

  it("is done once when several processes start at once, and all of them go on", async () => {
    const url = await emptyDatabase();
    await Promise.all(Array.from({ length: 4 }, () => migrate({ url, folder })));
    expect(await applied(url)).toHaveLength(await journal());
  });

  it("of several databases of one server at once works, though they share their roles", async () => {
    const urls = await Promise.all(Array.from({ length: 4 }, emptyDatabase));
    await Promise.all(urls.map((url) => migrate({ url, folder })));
    for (const url of urls) expect(await applied(url)).toHaveLength(await journal());
  });

  it("leaves the service's role able to work, and unable to rewrite the books", async () => {
    const url = await emptyDatabase();
    await migrate({ url, folder });
    const rights = await query<{ table: string; rights: string }>(
      url,
      `SELECT t AS table, concat_ws(' ', ${["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"]
        .map((right) => `CASE WHEN has_table_privilege('farebox_app', t, '${right}') THEN '${right}' END`)
        .join(", ")}) AS rights
       FROM unnest(ARRAY['claim_event','ledger_account','ledger_balance','ledger_transfer','outbox']) AS t`,
    );
    expect(rights).toEqual([
      { table: "claim_event", rights: "SELECT INSERT" },
      { table: "ledger_account", rights: "SELECT INSERT" },
      { table: "ledger_balance", rights: "SELECT INSERT UPDATE" },
      { table: "ledger_transfer", rights: "SELECT INSERT" },
      { table: "outbox", rights: "SELECT INSERT UPDATE DELETE" },
    ]);
  });

  it("refuses what a later version has migrated, and touches nothing", async () => {
    const url = await emptyDatabase();
    await migrate({ url, folder });
    await query(
      url,
      "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'later', max(created_at) + 1 FROM drizzle.__drizzle_migrations",
    );
    const before = await applied(url);
    await expect(migrate({ url, folder })).rejects.toThrow(
      /^The database of DATABASE_URL was migrated by another version of Farebox than this one, .*Start the version that migrated it, or put back the backup from before\.$/,
    );
    expect(await applied(url)).toEqual(before);
  });

  it("refuses an encoding that cannot hold what people write", async () => {
    const name = `latin_${randomBytes(6).toString("hex")}`;
    const server = inject("databaseUrl");
    await query(
      server,
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`,
    );
    onTestFinished(async () => void (await query(server, `DROP DATABASE ${name} WITH (FORCE)`)));
    await expect(migrate({ url: databaseAt(server, name), folder })).rejects.toThrow(
      "The database of DATABASE_URL is encoded in LATIN1. Set DATABASE_URL to one that was created with ENCODING 'UTF8'.",
    );
  });

  it("refuses a PostgreSQL that is too old for it, and makes nothing", async () => {
    const url = await emptyDatabase();
    await expect(migrate({ url, folder, leastPostgres: 99 })).rejects.toThrow(
      /^The database of DATABASE_URL is of PostgreSQL \d+\.\S.*\. Set DATABASE_URL to one of PostgreSQL 99 or newer\.$/,
    );
    expect(await query(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'drizzle'")).toEqual([]);
  });

  it("gives up when somebody holds a table for too long, with nothing changed", async () => {
    const url = await emptyDatabase();
    await migrate({ url, folder: await folderBeforeLast() });
    const all = (await tables(url)).map((name) => pg.escapeIdentifier(name)).join(", ");
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query("BEGIN");
    await reader.query(`LOCK TABLE ${all} IN ROW EXCLUSIVE MODE`);
    await expect(migrate({ url, folder, lockMs: 100 })).rejects.toThrow(
      /^Tables of the database of DATABASE_URL are in use, and nothing was migrated\. Stop every process of the earlier version/,
    );
    await reader.end();
    const told: string[] = [];
    const info = (fields: object, message: string) => void told.push(`${message} ${JSON.stringify(fields)}`);
    await migrate({ url, folder, log: { ...silentLog, info } });
    expect(await applied(url)).toHaveLength(await journal());
    expect(told).toEqual([
      'the database is being migrated {"migrations":1}',
      expect.stringMatching(/^the database was migrated \{"migrations":1,"seconds":\d+\}$/),
    ]);
  });

  it("rejects with what the connection says when the database cannot be had", async () => {
    const url = atPort(inject("databaseUrl"), 1);
    await expect(migrate({ url, folder })).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const stranger = new URL(inject("databaseUrl"));
    stranger.password = "guess";
    await expect(migrate({ url: stranger.href, folder })).rejects.toMatchObject({ code: "28P01" });
  });
});
