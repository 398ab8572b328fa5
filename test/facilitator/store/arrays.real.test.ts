import { type SQL, sql } from "drizzle-orm";
import { integer, json, jsonb, pgTable } from "drizzle-orm/pg-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBytes } from "#kernel/bytes";
import { insertMany, openDatabase, toArray, toBytesArray, toNumericArray } from "#store";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";

const database = sharedDatabase();

/** What the database makes of an array, element by element. */
async function readBack(array: SQL): Promise<readonly unknown[]> {
  const { rows } = await database.db.pool.execute<{ value: unknown }>(
    sql`SELECT value FROM unnest(${array}) WITH ORDINALITY AS each(value, place) ORDER BY place`,
  );
  return rows.map(({ value }) => value);
}

const nasty = fc.constantFrom(
  '"',
  "\\",
  "{",
  "}",
  ",",
  " ",
  "NULL",
  "null",
  "'",
  "\n",
  "\t",
  "\u0001",
  "\u2028",
  "\u{1f4b8}",
  "é",
  "$1",
  "x",
);
const text = fc.array(nasty, { maxLength: 12 }).map((parts) => parts.join(""));
const runs = { numRuns: 40 };

describe("an array parameter", () => {
  it("brings every text as it is, and null as null", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1, maxLength: 8 }), async (values) => {
        expect(await readBack(toArray(values, "text"))).toEqual(values);
      }),
      runs,
    );
  });

  it("brings every byte", async () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map(fromBytes);
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 8 }), async (values) => {
        expect(await readBack(toBytesArray(values))).toEqual(values);
      }),
      runs,
    );
  });

  it("brings bytes whatever the case of their digits, and refuses what is none", async () => {
    expect(await readBack(toBytesArray(["0xABCDEF", "0xabcdef"]))).toEqual(["0xabcdef", "0xabcdef"]);
    for (const broken of ["0xabc", "0xzz", "0x1g", "0x\u00e9\u00e9"])
      expect(() => toBytesArray([broken as `0x${string}`])).toThrow("not whole in hex digits");
  });

  it("brings every document as it is, of either type", async () => {
    await database.query("CREATE TABLE document (place int, plain json, parsed jsonb)");
    const document = pgTable("document", {
      place: integer("place").notNull(),
      plain: json("plain"),
      parsed: jsonb("parsed"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1, maxLength: 8 }), async (values) => {
        await database.query("TRUNCATE document");
        const rows = values.map((value, place) => ({
          place,
          plain: value && { value },
          parsed: value && [value],
        }));
        await database.db.pool.execute(insertMany(document, rows));
        const found = await database.db.pool.select().from(document).orderBy(document.place);
        expect(found).toEqual(rows);
      }),
      runs,
    );
  });

  it("has no place for anything else in an array of text", () => {
    expect(() => toArray([1], "text")).toThrow("an array of text with a number in it");
  });

  it("brings bytes as hex also where the database would write them otherwise", async () => {
    await database.query(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database()); END $$",
    );
    const db = openDatabase({ url: database.url, log: silentLog, name: "test", maxConnections: 1 });
    const { rows } = await db.pool.execute(sql`SELECT '\\x00ff5c'::bytea AS value`);
    await db.close();
    expect(rows).toEqual([{ value: "0x00ff5c" }]);
  });

  it("brings amounts beyond what a double can hold, and instants to the millisecond", async () => {
    const amounts = [0n, 2n ** 128n - 1n, 10n ** 20n];
    expect(await readBack(toNumericArray(amounts))).toEqual(amounts.map(String));
    const at = "2026-02-03T04:05:06.789Z";
    const { rows } = await database.db.pool.execute<{ same: boolean }>(
      sql`SELECT (${toArray([at], "timestamptz")})[1] = ${at}::timestamptz AS same`,
    );
    expect(rows).toEqual([{ same: true }]);
  });

  it("may be empty", async () => {
    expect(await readBack(toArray([], "int"))).toEqual([]);
    expect(await readBack(toArray([], "text"))).toEqual([]);
    expect(await readBack(toBytesArray([]))).toEqual([]);
  });
});
