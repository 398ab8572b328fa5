/** A list of payments costs what its page costs, however many payments there are. */
import { createHash } from "node:crypto";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { writeMany } from "../../support/many-payments.ts";
import { type Asked, rowsTouched } from "../../support/plans.ts";
import { type Answer, type Caller, caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

const COUNT = 40_000;
/** A hundred rows of a page and one more, their clearings, and what an index gives besides. */
const MOST_ROWS = 500;

let pool: pg.Pool;
let who: Caller;
let call: (path: string) => Promise<Answer>;
let callAs: (as: Caller, path: string) => Promise<Answer>;
const asked: Asked[] = [];

const database = sharedDatabase();
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const logger = {
    logQuery(text: string, values: unknown[]) {
      if (text.includes("payment_intent")) asked.push({ text, values });
    },
  };
  const { app } = world({ db: { ...database.db, pool: drizzle(pool, { logger }) } });
  who = await newCaller(database.db);
  const stranger = await newCaller(database.db);
  await writeMany(database, stranger.merchantId, COUNT);
  await writeMany(database, who.merchantId, COUNT);
  callAs = (as, path) => caller(app, as)("GET", path);
  call = (path) => callAs(who, path);
}, 180_000);
afterAll(async () => {
  await pool.end();
});

const hashOf = (i: number) => `0x${createHash("sha256").update(String(i)).digest("hex")}`;
const listed: readonly (readonly [query: string, rows: number])[] = [
  ["", 100],
  ["status=completed", 100],
  ["status=failed", 40],
  ["state=settled", 100],
  ["state=failed", 40],
  ["state=in-review", 0],
  ["source=x402", 100],
  ["source=api", 40],
  ["source=invoice", 0],
  ["merchantReference=order+1000", 1],
  ["reviewRequired=true", 8],
  ["reviewRequired=false", 100],
  ["chain=base", 100],
  ["chain=ink", 40],
  ["chain=ink&asset=EURC", 40],
  ["chain=BASE&asset=usdc", 100],
  [`txHash=${hashOf(7)}`, 1],
  [`txHash=${hashOf(-1)}`, 0],
  ["subscriptionId=sub_1500", 1],
  ["invoiceId=inv_2500", 1],
  ["createdFrom=2001-01-01T00:00:00Z&createdTo=2002-01-01T00:00:00Z", 0],
  ["status=completed&chain=base&asset=USDC", 100],
];

describe(`GET /v1/payments of ${COUNT}`, () => {
  it.each(listed)("%s reads no more than its page", async (query, rows) => {
    asked.length = 0;
    const answer = await call(`/v1/payments?${query}`);
    expect([answer.status, answer.body.length]).toEqual([200, rows]);
    expect(asked).toHaveLength(1);
    expect(await rowsTouched(pool, asked)).toBeLessThanOrEqual(MOST_ROWS);
  });

  it("a customer's are read off their email and their subscriptions", async () => {
    const { body: customer } = await caller(world({ db: database.db }).app, who)("POST", "/v1/customers", {
      body: { name: "Ada", email: "ada@buyer.example" },
      headers: { "idempotency-key": "Ada" },
    });
    asked.length = 0;
    const { status, body } = await call(`/v1/payments?customerId=${customer.id}`);
    expect([status, body, asked.length]).toEqual([200, [], 1]);
    expect(await rowsTouched(pool, asked)).toBe(0);
  });

  it("of a customer who is nobody is empty, to those who may read payments", async () => {
    const path = `/v1/payments?customerId=cus_${"0".repeat(26)}`;
    const blind = await newCaller(database.db, {
      merchantId: who.merchantId,
      permissions: ["invoices:read"],
    });
    expect(await call(path)).toMatchObject({ status: 200, body: [] });
    expect(await callAs(blind, path)).toMatchObject({ status: 403, body: { code: "permission_denied" } });
  });

  it("walks every page once, newest first, and the last as quickly as the first", async () => {
    const ids: string[] = [];
    let path = "/v1/payments?limit=200&source=api";
    for (;;) {
      const { body, headers } = await call(path);
      ids.push(...body.map(({ paymentIntent }: { paymentIntent: { id: string } }) => paymentIntent.id));
      const next = headers.get("Next-Cursor");
      if (!next) break;
      path = `/v1/payments?limit=200&source=api&cursor=${next}`;
    }
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(ids).toHaveLength(COUNT / 1000);
    const first = await call("/v1/payments?limit=2");
    const second = await call(`/v1/payments?limit=2&cursor=${first.headers.get("Next-Cursor")}`);
    const numbers = [...first.body, ...second.body].map(({ paymentIntent }) =>
      Number(paymentIntent.id.slice(-22)),
    );
    expect(numbers).toEqual([COUNT, COUNT - 1, COUNT - 2, COUNT - 3]);
  });

  it("shows each with its clearing, and nothing of another merchant", async () => {
    const { body } = await call("/v1/payments?limit=1");
    expect(body).toMatchObject([
      {
        paymentIntent: { merchant: { id: who.merchantId } },
        clearing: { state: "failed", failure: { code: "provider_error" } },
      },
    ]);
    expect(Object.keys(body[0])).toEqual(["paymentIntent", "clearing", "amountRefunded"]);
  });

  it.each(["state=nowhere", "reviewRequired=maybe", "txHash=0x12", "createdFrom=yesterday", "limit=201"])(
    "400 for %s",
    async (query) => {
      expect(await call(`/v1/payments?${query}`)).toMatchObject({
        status: 400,
        body: { code: "validation_failed" },
      });
    },
  );
});
