/** A page of a merchant's entries costs what it shows, however many the merchant and all others have. */
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { merchantEntries } from "#ledger";
import type { Executor } from "#store";
import { sharedDatabase } from "../../support/db.ts";
import { type Asked, rowsTouched } from "../../support/plans.ts";

const COUNT = 40_000;
const PAGE = 100;
/** Of a page: its rows on both sides of three accounts, the entries that they are of, and what an index gives besides. */
const MOST_ROWS = 2_000;

let pool: pg.Pool;
let db: Executor;
const asked: Asked[] = [];

const database = sharedDatabase();
beforeAll(async () => {
  for (const merchant of ["mer_one", "mer_two"]) await lay(merchant);
  await database.query("ANALYZE");
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  db = drizzle(pool, {
    logger: { logQuery: (text: string, values: unknown[]) => void asked.push({ text, values }) },
  });
}, 180_000);
afterAll(async () => {
  await pool.end();
});

/** One payment a minute, each paid out again, the newest now. */
async function lay(merchant: string): Promise<void> {
  await database.query(
    `INSERT INTO ledger_account (id, path, type, asset, merchant_id, bounded)
     SELECT substr(sha256(convert_to(path, 'UTF8')), 1, 16), path, 'liability', 'USDC@base', merchant, false
     FROM (VALUES ('asset:treasury:base', NULL), ($1 || ':available', $1), ($1 || ':reserved', $1)) AS account(path, merchant)
     ON CONFLICT DO NOTHING`,
    [merchant],
  );
  await database.query(
    `INSERT INTO ledger_transfer (id, entry_id, leg, event_key, code, debit_account, credit_account, amount, asset, phase,
       subject, sequence, posted_at)
     SELECT entry || leg::bytea, entry, leg, $1 || i, 'paid', substr(sha256(convert_to(debit, 'UTF8')), 1, 16),
       substr(sha256(convert_to(credit, 'UTF8')), 1, 16), 10, 'USDC@base', 'single', 'stl_' || $1 || i, sequence,
       date_trunc('minute', now()) - make_interval(mins => $2::int - i)
     FROM generate_series(1, $2::int) AS i, substr(sha256(convert_to($1 || i, 'UTF8')), 1, 16) AS entry,
       (VALUES ('in', 'asset:treasury:base', $1 || ':available', 0), ('out', $1 || ':available', 'asset:treasury:base', 1))
         AS leg(leg, debit, credit, sequence)`,
    [merchant, COUNT],
  );
}

const read = (filter: Partial<Parameters<typeof merchantEntries>[2]>) =>
  merchantEntries(db, "mer_one", { limit: PAGE, after: null, ...filter });

it(`shows a page of ${COUNT} entries, and another one behind it, by the rows that they hold`, async () => {
  const first = await read({});
  const rest = await read({ after: first.at(-1)?.id ?? null });
  const entries = [...first, ...rest];
  expect(entries.map(({ subject }) => subject)).toEqual(
    Array.from({ length: 2 * PAGE }, (_, i) => `stl_mer_one${COUNT - i}`),
  );
  expect(entries.every(({ transfers }) => transfers.length === 2)).toBe(true);
  expect(await rowsTouched(pool, asked.splice(0))).toBeLessThan(2 * MOST_ROWS);
});

it("finds those of a time, and those about something, by their rows alone", async () => {
  const [newest] = await read({ limit: 1 });
  const at = (minutes: number) => new Date((newest?.postedAt.getTime() ?? 0) - minutes * 60_000);
  asked.length = 0;
  const ofTime = await read({ from: at(20_010), to: at(20_000) });
  expect(ofTime.map(({ subject }) => subject)).toEqual(
    Array.from({ length: 10 }, (_, i) => `stl_mer_one${COUNT - 20_001 - i}`),
  );
  expect(await read({ subject: "stl_mer_one77" })).toHaveLength(1);
  expect(await read({ subject: ["stl_mer_one77", "stl_mer_one9", "stl_mer_two5"] })).toHaveLength(2);
  expect(await rowsTouched(pool, asked.splice(0))).toBeLessThan(MOST_ROWS);
});

it("shows nothing behind an entry that nobody knows", async () => {
  expect(await read({ after: `je_${"0".repeat(26)}` })).toEqual([]);
});
