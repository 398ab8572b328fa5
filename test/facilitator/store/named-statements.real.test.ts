import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Database, type DbOptions, openDatabase } from "#store";
import { sharedDatabase } from "../../support/db.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };
/** One connection, so that what it has prepared can be asked of it. */
const database = sharedDatabase();
let db: Database;
beforeAll(async () => {
  db = openDatabase({ url: database.url, log, name: "statements", maxConnections: 1 });
});
afterAll(async () => {
  await db.close();
});

const add = (n: number) => sql`SELECT ${n}::int + 1 AS sum`;
async function sum(n: number): Promise<unknown> {
  const { rows } = await db.pool.execute<{ sum: number }>(add(n));
  return rows[0]?.sum;
}

async function timesPlanned(text: string): Promise<number | undefined> {
  const { rows } = await db.pool.execute<{ name: string; runs: number }>(
    sql.raw(
      `SELECT name, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements WHERE statement LIKE '${text}%'`,
    ),
  );
  expect(rows.length).toBeLessThan(2);
  return rows[0]?.runs;
}

describe("a statement with parameters", () => {
  it("is kept prepared once it was asked often, and answers as before", async () => {
    expect([await sum(1), await sum(2), await sum(3)]).toEqual([2, 3, 4]);
    expect(await timesPlanned("SELECT $1::int + 1")).toBeUndefined();
    expect([await sum(4), await sum(5)]).toEqual([5, 6]);
    expect(await timesPlanned("SELECT $1::int + 1")).toBe(2);
  });

  it("is prepared in a transaction as well, and lives on when that is rolled back", async () => {
    const ask = (n: number) => sql`SELECT ${n}::int * 2 AS double`;
    for (let n = 0; n < 5; n += 1) {
      const undone = db.tx(async (tx) => {
        await tx.execute(ask(n));
        throw new Error("undo");
      });
      await expect(undone).rejects.toThrow("undo");
    }
    const { rows } = await db.pool.execute<{ double: number }>(ask(21));
    expect(rows).toEqual([{ double: 42 }]);
  });

  it("goes on when the table it reads is altered", async () => {
    await db.pool.execute(sql.raw("CREATE TABLE altered (id int PRIMARY KEY, note text)"));
    const read = (id: number) => sql`SELECT note FROM altered WHERE id = ${id}`;
    await db.pool.execute(sql.raw("INSERT INTO altered VALUES (1, 'old')"));
    for (let times = 0; times < 6; times += 1) await db.pool.execute(read(1));
    await db.pool.execute(sql.raw("ALTER TABLE altered ADD COLUMN extra int DEFAULT 7"));
    expect((await db.pool.execute(read(1))).rows).toEqual([{ note: "old" }]);
  });
});

it("a refused statement says why each time", async () => {
  const divide = (n: number) => sql`SELECT 1 / ${n}::int AS part`;
  for (let times = 0; times < 6; times += 1)
    await expect(db.pool.execute(divide(0))).rejects.toMatchObject({ cause: { code: "22012" } });
  expect((await db.pool.execute(divide(1))).rows).toEqual([{ part: 1 }]);
});

it("a search is planned for its words each time, also where one plan would do for all by its cost", async () => {
  const { url } = database;
  const planned = async (over: Pick<DbOptions, "bySearch">) => {
    const { pool, close } = openDatabase({ url, log, name: "words", maxConnections: 1, ...over });
    onTestFinished(close);
    for (let times = 0; times < 12; times += 1)
      await pool.execute(sql`SELECT id FROM claim WHERE id = ${"none"}`);
    const { rows } = await pool.execute(sql`
      SELECT generic_plans > 0 AS for_all FROM pg_prepared_statements WHERE statement LIKE 'SELECT id FROM claim%'`);
    return rows;
  };
  expect(await planned({})).toEqual([{ for_all: true }]);
  expect(await planned({ bySearch: true })).toEqual([{ for_all: false }]);
});

describe("a statement with a list", () => {
  /** Found in a long table, and how the statement was planned on that connection. */
  async function asked(over: Pick<DbOptions, "byIndex">) {
    const { url } = database;
    const { pool, close } = openDatabase({ url, log, name: "lists", maxConnections: 1, ...over });
    onTestFinished(close);
    const find = (words: readonly string[]) =>
      pool.execute(sql`SELECT word FROM long_list WHERE word = ANY(${sql.param([...words])}::text[])`);
    for (let times = 0; times < 12; times += 1) await find(["word 1"]);
    const { rows: found } = await find(["word 1", ...Array.from({ length: 500 }, (_, i) => `none ${i}`)]);
    const { rows: plans } = await pool.execute(sql`
      SELECT generic_plans > 0 AS kept, custom_plans > 0 AS anew FROM pg_prepared_statements
      WHERE statement LIKE 'SELECT word FROM long_list%'`);
    return { found, plans };
  }

  it("is planned once by a pool that goes by indexes, and finds the same", async () => {
    await database.query("CREATE TABLE long_list (word text PRIMARY KEY)");
    await database.query("INSERT INTO long_list SELECT 'word ' || n FROM generate_series(1, 5000) AS n");
    await database.query("VACUUM ANALYZE long_list");
    onTestFinished(async () => void (await database.query("DROP TABLE long_list")));
    const found = [{ word: "word 1" }];
    expect(await asked({})).toEqual({ found, plans: [{ kept: false, anew: true }] });
    expect(await asked({ byIndex: true })).toEqual({ found, plans: [{ kept: true, anew: false }] });
  });
});
