/** A queue may be long because of one thing: whatever of it waits, a look for what is due reads no more than its page. */
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readDue } from "../../../api/webhook/due.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Asked, rowsTouched } from "../../support/plans.ts";
import { newListener, openOffice } from "./office.ts";

/** A page of rows, those that are looked through for it, and once what waits of each thing. */
const MOST_ROWS = 20_000;

let pool: pg.Pool;
let endpoint: { readonly merchantId: string; readonly id: `whe_${string}` };
const asked: Asked[] = [];

const database = sharedDatabase();
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 1, options: "-c enable_seqscan=off" });
  const office = openOffice(database);
  const shop = await newListener(database, office);
  const { id } = await shop.listen("http://127.0.0.1:1");
  endpoint = { merchantId: shop.merchantId, id };
});
beforeEach(() => database.query("TRUNCATE outbox, event, webhook_delivery CASCADE"));
afterAll(async () => {
  await pool.end();
});

interface Queued {
  readonly from: number;
  readonly to: number;
  readonly subject: string;
  /** SQL, of the sequence `i`. */
  readonly dueAt: string;
}

/** Each was tried a day ago, so none is in a pause of seconds. */
async function queue(...parts: readonly Queued[]): Promise<void> {
  for (const { from, to, subject, dueAt } of parts)
    await database.query(
      `WITH told AS (INSERT INTO event SELECT $1, 'evt_' || i, 'ping', i, $3, '{"object":{},"previous":null}', '2026-08-11', now(), now()
         FROM generate_series($4::int, $5::int) AS i RETURNING merchant_id, id, type, subject, sequence)
       INSERT INTO webhook_delivery (merchant_id, id, endpoint_id, event_id, type, subject, sequence, state, tries, attempts, due_at, version,
         created_at, updated_at)
       SELECT merchant_id, 'whd_' || sequence, $2, id, type, subject, sequence, 'pending', 1, '[]', ${dueAt}, 1,
         now() - interval '1 day', now() - interval '1 day' FROM told, LATERAL (SELECT sequence AS i) AS its`,
      [endpoint.merchantId, endpoint.id, subject, from, to],
    );
  await database.query("ANALYZE webhook_delivery");
}

async function look(inHand: readonly string[] = []) {
  const logger = { logQuery: (text: string, values: unknown[]) => void asked.push({ text, values }) };
  const db = { ...database.db, pool: drizzle(pool, { logger }) };
  asked.length = 0;
  const found = await readDue(db, endpoint, { now: new Date(), inHand, limit: 128 });
  const sequences = found.map(({ delivery }) => delivery.sequence);
  return { sequences, rows: await rowsTouched(pool, asked.slice(0, 1)) };
}

const LATER = "now() + interval '1 hour'";
const DUE = "now() - interval '1 hour' + i * interval '1 millisecond'";

it("passes over those that the endpoint wants later, once", async () => {
  await queue(
    { from: 1, to: 5_000, subject: "pi_hot", dueAt: LATER },
    { from: 5_001, to: 5_300, subject: "pi_hot", dueAt: DUE },
    { from: 5_301, to: 5_302, subject: "pi_cold", dueAt: DUE },
  );
  const { sequences, rows } = await look();
  expect(sequences).toEqual([5_001, 5_301]);
  expect(rows).toBeLessThan(MOST_ROWS);
});

it("waits for the first of one thing that is in hand without a look at each that waits for it", async () => {
  await queue({ from: 1, to: 60_000, subject: "pi_hot", dueAt: DUE });
  const { sequences, rows } = await look(["whd_1"]);
  expect(sequences).toEqual([]);
  expect(rows).toBeLessThan(MOST_ROWS);
});

it("finds the first of one thing also when all that wait for it have been due for longer", async () => {
  await queue(
    { from: 1, to: 1, subject: "pi_hot", dueAt: "now() - interval '1 second'" },
    { from: 2, to: 9_000, subject: "pi_hot", dueAt: DUE },
    { from: 9_001, to: 9_001, subject: "pi_cold", dueAt: "now() - interval '2 seconds'" },
  );
  expect((await look()).sequences).toContain(1);
});
