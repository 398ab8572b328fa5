/** Payments complete by the hundred in a second, and hardly one has a reader: what it costs to find that out. */
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { outbox, Tx } from "#store";
import { mailHearer } from "../../../api/mail/sources/index.ts";
import { sharedDatabase } from "../../support/db.ts";
import { writeMany } from "../../support/many-payments.ts";
import { type Asked, tablesReadThrough } from "../../support/plans.ts";
import { newMerchantId } from "../caller.ts";
import { clock, newId, recordingLog } from "../world.ts";

const COUNT = 40_000;
const GROUP = 500;

let pool: pg.Pool;
let merchantId: string;
const asked: Asked[] = [];
const database = sharedDatabase();
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  merchantId = await newMerchantId(database.db);
  await writeMany(database, merchantId, COUNT);
}, 180_000);
afterAll(async () => {
  await pool.end();
});

it(`${GROUP} of ${COUNT} payments that nobody is to be told of: one statement, by their keys, and no mail`, async () => {
  const logger = { logQuery: (text: string, values: unknown[]) => void asked.push({ text, values }) };
  const tx = drizzle(pool, { logger }) as unknown as Tx;
  const mailer = { send: () => Promise.reject(new Error("nothing is sent here")) };
  const hear = mailHearer({
    ...{
      db: database.db,
      mailer,
      from: "no-reply@pay.example",
      baseUrl: "https://pay.example",
      explorerUrl: () => null,
      clock,
      newId,
    },
    now: () => clock.now(),
    log: recordingLog(),
  });
  const facts: outbox.Fact[] = Array.from({ length: GROUP }, (_, i) => ({
    id: newId("evt"),
    type: "payment.completed",
    subject: `clr_01K2${String(i * 79 + 1).padStart(22, "0")}`,
    merchantId,
    payload: {},
  }));
  await hear(tx, facts);
  expect(asked).toHaveLength(1);
  const read = await tablesReadThrough(pool, asked);
  expect(read).not.toContain("clearing");
  expect(read).not.toContain("payment_intent");
});
