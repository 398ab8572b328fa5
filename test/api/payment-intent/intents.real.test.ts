import { asc, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import type { RailFacts } from "#facilitator";
import { idempotencyKey } from "../../../api/http/tables.ts";
import { merchant } from "../../../api/merchant/tables.ts";
import { paymentIntent } from "../../../api/payment-intent/tables.ts";
import { rateSnapshot } from "../../../api/rate/tables.ts";
import type { Rates } from "../../../api/rate/verbs.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { payable } from "../../../facilitator/payable/tables.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, newCaller } from "../caller.ts";
import { baseUrl, clock, fakeFacilitator, now, rail, world } from "../world.ts";
import { refused, tenDollars } from "./refused-intents.ts";

const eurc: RailFacts = { ...rail, asset: "EURC", contract: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42" };
const router = "0x00000000000000000000000000000000000000Dd";
const ink: RailFacts = {
  ...rail,
  chain: "ink",
  network: "eip155:57073",
  asset: "USDG",
  router,
  minimum: 1_000n,
};
const path = "/v1/payment-intents";

let app: ReturnType<typeof world>["app"];
let who: Caller;
let call: ReturnType<typeof caller>;
let count = 0;

const database = sharedDatabase();
beforeAll(async () => {
  const facilitator = fakeFacilitator({ project: projectPayable, rails: () => [rail, eurc, ink] });
  ({ app } = world({ db: database.db, facilitator }));
  who = await newCaller(database.db);
  call = caller(app, who);
  await database.db.pool
    .update(merchant)
    .set({ feeBps: 50, allowedOrigins: ["https://shop.example"], categoryCode: "5812" });
});

const create = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call("POST", path, { body, headers: { "idempotency-key": `intent-${++count}`, ...headers } });
const intents = () => database.db.pool.select().from(paymentIntent).orderBy(asc(paymentIntent.id));
const payableOf = async (id: string) =>
  (await database.db.pool.select().from(payable).where(eq(payable.id, id)))[0];
const factsOf = async (id: string) =>
  (await database.db.pool.select().from(outbox).where(eq(outbox.subject, id))).map(({ type, payload }) => ({
    type,
    payload,
  }));

describe("POST /v1/payment-intents", () => {
  it("201: the request with defaults, its address and its page; offered to agents in the same transaction", async () => {
    const answer = await create(tenDollars);
    const { id } = answer.body;
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.headers.get("Location")).toBe(`${path}/${id}`);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^pi_[0-9A-Z]{26}$/),
      status: "created",
      merchant: { id: who.merchantId, name: "Shop", city: "Oslo", countryCode: "NO", categoryCode: "5812" },
      amount: { amount: "10.00", asset: "USD", formatted: "10.00 USD", display: "$10.00" },
      settlementAsset: null,
      provider: "evm",
      payment: { asset: null, chain: null, payerAddress: null },
      executionPath: null,
      source: "api",
      metadata: {},
      merchantReference: null,
      clearingTransactionId: null,
      failureReason: null,
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 3_600_000).toISOString(),
      confirmedAt: null,
      completedAt: null,
      checkoutUrl: `${baseUrl}/checkout/${id}`,
      returnUrl: null,
      customer: null,
    });
    expect(await payableOf(id)).toMatchObject({
      kind: "payment-intent",
      merchantId: who.merchantId,
      url: `${baseUrl}/x402/payables/${id}`,
      priceAmount: 10_000_000n,
      priceAsset: "USD",
      rails: [],
      feeBps: 50,
      once: true,
      listed: false,
      closedAt: null,
      expiresAt: new Date(now.getTime() + 3_600_000),
    });
    expect(await factsOf(id)).toEqual([
      { type: "payment.created", payload: { paymentIntentId: id, clearingId: null, previous: null } },
    ]);
  });

  it("201: everything that may be said is kept", async () => {
    const answer = await create({
      amount: { amount: "49.9", asset: "USDG" },
      merchant: { id: who.merchantId, name: "Shop at the harbour", city: "Bergen", countryCode: "NO" },
      settlementAsset: "USDG",
      executionPath: "on-chain-contract",
      payment: {
        asset: "USDG",
        chain: "eip155:57073",
        payerAddress: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
      },
      merchantReference: "  order 1042 ",
      metadata: { cart: "a b", "line.1": "" },
      expiresInSeconds: 2_592_000,
      customer: { email: "ada@example.com", name: "Ada" },
      returnUrl: "https://shop.example/thanks?order=1042",
    });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        merchant: { name: "Shop at the harbour", city: "Bergen", countryCode: "NO", categoryCode: "5812" },
        amount: { amount: "49.900000", asset: "USDG" },
        settlementAsset: "USDG",
        payment: { asset: "USDG", chain: "ink", payerAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
        executionPath: null,
        metadata: { cart: "a b", "line.1": "" },
        merchantReference: "order 1042",
        expiresAt: new Date(now.getTime() + 2_592_000_000).toISOString(),
        customer: { email: "ada@example.com", name: "Ada" },
        returnUrl: "https://shop.example/thanks?order=1042",
      },
    });
    expect(await payableOf(answer.body.id)).toMatchObject({
      title: "order 1042",
      merchantName: "Shop at the harbour",
      rails: [{ chain: "ink", asset: "USDG" }],
    });
  });

  it("201: a currency without a coin of its own is offered to agents at a locked rate, while that holds", async () => {
    const { status, body } = await create({ amount: { amount: "100", asset: "GBP" } });
    expect([status, body.amount.amount]).toEqual([201, "100.00"]);
    const offer = await payableOf(body.id);
    const [{ offerRateId } = { offerRateId: null }] = await database.db.pool
      .select()
      .from(paymentIntent)
      .where(eq(paymentIntent.id, body.id));
    const [lock] = await database.db.pool
      .select()
      .from(rateSnapshot)
      .where(eq(rateSnapshot.id, offerRateId as never));
    expect(lock).toMatchObject({ fromAsset: "GBP", toAsset: "USDC", source: "fixed" });
    expect(offer).toMatchObject({
      priceAsset: "USDC",
      rails: [{ chain: "base", asset: "USDC" }],
      expiresAt: new Date(now.getTime() + 15 * 60_000),
    });
    expect(offer?.priceAmount).toBe(((lock?.scaledRate ?? 0n) * 100n) / 10n ** 12n);
  });

  it("50 identical creates at once: one intent, one fact, 50 equal answers", async () => {
    const before = (await intents()).length;
    const body = { ...tenDollars, merchantReference: "at once" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create(body, { "idempotency-key": "fifty" })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 201 });
    expect((await intents()).length).toBe(before + 1);
    expect(await factsOf(answers[0]?.body.id)).toHaveLength(1);
  });

  it("409 idempotency_key_reused for another body, and nothing is made", async () => {
    await create(tenDollars, { "idempotency-key": "reused" });
    const before = await intents();
    const answer = await create({ ...tenDollars, merchantReference: "x" }, { "idempotency-key": "reused" });
    expect(answer).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
    expect(await intents()).toEqual(before);
  });

  it("the key holds after its record was pruned: the same body is the same intent, another one 409", async () => {
    const first = await create(tenDollars, { "idempotency-key": "kept for ever" });
    await database.db.pool.delete(idempotencyKey);
    const before = await intents();
    const again = await create(tenDollars, { "idempotency-key": "kept for ever" });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    await database.db.pool.delete(idempotencyKey);
    const other = await create(
      { ...tenDollars, executionPath: "x402" },
      { "idempotency-key": "kept for ever" },
    );
    expect(other).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
    expect(await intents()).toEqual(before);
    expect(await factsOf(first.body.id)).toHaveLength(1);
  });

  it("10.0 and 10.00 are one request", async () => {
    const key = { "idempotency-key": "spelling" };
    const first = await create({ amount: { amount: "10.0", asset: "USD" } }, key);
    expect(await create({ amount: { amount: "10.00", asset: "USD" } }, key)).toMatchObject({
      status: 201,
      text: first.text,
    });
  });

  it.each(refused)("refuses %s and names the field", async (_, body, status, code, pointer) => {
    const before = await intents();
    const answer = await create(body);
    expect([answer.status, answer.body.code, answer.body.errors?.[0]?.pointer]).toEqual([
      status,
      code,
      pointer,
    ]);
    expect(await intents()).toEqual(before);
  });

  it("400 without a key of its own", async () => {
    expect(await call("POST", path, { body: tenDollars })).toMatchObject({
      status: 400,
      body: { code: "idempotency_key_required" },
    });
  });
});

describe("while no rate is to be had", () => {
  const rates: Rates = { rate: async () => ({ ok: false, reason: "no_fresh_rate" }) };
  const ask = (at: string, body: unknown) => {
    const facilitator = fakeFacilitator({ project: projectPayable, rails: () => [rail, eurc] });
    const { app: unpriced } = world({ db: database.db, facilitator, rates });
    return caller(unpriced, who)("POST", at, { body, headers: { "idempotency-key": `intent-${++count}` } });
  };
  const amount = { amount: "20000000", asset: "IDR" };
  const lines = [{ name: "Batik", unitPrice: amount }];
  const customer = { name: "Ada", email: "ada@buyer.example" };

  it.each([
    ["an intent", path, { amount }],
    ["an invoice", "/v1/invoices", { buyer: { name: "Ada" }, currency: "IDR", lines, issue: true }],
    ["a subscription", "/v1/subscriptions", { customer, description: "Batik", amount, interval: "month" }],
  ])("%s is not said to be too large: that is judged when it is priced", async (_, at, body) => {
    expect(await ask(at, body)).toMatchObject({ status: 201 });
  });

  it("422: what agents would pay at parity is bounded all the same", async () => {
    const answer = await ask(path, { amount: { amount: "1000000.01", asset: "EUR" } });
    expect(answer).toMatchObject({ status: 422, body: { code: "amount_too_large" } });
  });
});

describe("GET /v1/payment-intents/{id}", () => {
  it("200: as it was made; 404 for another merchant's, a made-up id and an id of another kind", async () => {
    const made = await create(tenDollars);
    expect(await call("GET", `${path}/${made.body.id}`)).toMatchObject({ status: 200, body: made.body });
    const stranger = caller(app, await newCaller(database.db));
    for (const [ask, id] of [
      [stranger, made.body.id],
      [call, "pi_01K2C0Z0000000000000000000"],
      [call, who.merchantId],
    ] as const)
      expect(await ask("GET", `${path}/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });
});

describe("GET /v1/payment-intents", () => {
  it("pages newest first, and narrows by every filter", async () => {
    const lister = await newCaller(database.db);
    const ask = caller(app, lister);
    const time = (seconds: number) => new Date(Date.parse("2026-09-01T00:00:00Z") + seconds * 1000);
    const make = async (seconds: number, reference?: string) => {
      const at = world({
        db: database.db,
        facilitator: fakeFacilitator({ project: projectPayable }),
        time: { ...clock, now: () => time(seconds) },
      });
      const body = { ...tenDollars, ...(reference === undefined ? {} : { merchantReference: reference }) };
      const headers = { "idempotency-key": `l-${seconds}` };
      return (await caller(at.app, lister)("POST", path, { body, headers })).body.id as string;
    };
    const ids = [await make(0), await make(10, "a"), await make(20)];
    await database.db.pool
      .update(paymentIntent)
      .set({ status: "cancelled" })
      .where(eq(paymentIntent.id, ids[2] as never));
    const listed = async (query: string) => {
      const { body } = await ask("GET", `${path}?${query}`);
      return (body as { id: string }[]).map(({ id }) => ids.indexOf(id)).sort();
    };
    expect(await listed("")).toEqual([0, 1, 2]);
    expect(await listed("status=created")).toEqual([0, 1]);
    expect(await listed("status=cancelled&source=api")).toEqual([2]);
    expect(await listed("source=invoice")).toEqual([]);
    expect(await listed("merchantReference=a")).toEqual([1]);
    expect(await listed("merchantReference=%20a%20")).toEqual([1]);
    const first = await ask("GET", `${path}?limit=2&source=api`);
    const cursor = first.headers.get("Next-Cursor");
    const rest = await ask("GET", `${path}?limit=2&source=api&cursor=${cursor}`);
    const all = [...first.body, ...rest.body].map(({ id }: { id: string }) => id);
    expect(all).toEqual([...ids].sort().reverse());
    expect(rest.headers.get("Next-Cursor")).toBe(null);
    expect(await ask("GET", `${path}?limit=2&status=created&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_cursor" },
    });
  });

  it("createdFrom is included, createdTo is not", async () => {
    const lister = await newCaller(database.db);
    const made = await caller(app, lister)("POST", path, {
      body: tenDollars,
      headers: { "idempotency-key": "t" },
    });
    expect(made.status).toBe(201);
    const listed = async (query: string) =>
      (await caller(app, lister)("GET", `${path}?${query}`)).body.length as number;
    const at = (ms: number) => encodeURIComponent(new Date(now.getTime() + ms).toISOString());
    expect(await listed(`createdFrom=${at(0)}`)).toBe(1);
    expect(await listed(`createdFrom=${at(1)}`)).toBe(0);
    expect(await listed(`createdTo=${at(0)}`)).toBe(0);
    expect(await listed(`createdTo=${at(1)}`)).toBe(1);
    expect(await listed(`createdFrom=${encodeURIComponent("0001-01-01T00:00:00Z")}`)).toBe(1);
    // its id may have been made later than the time that its row tells
    const createdAt = new Date(now.getTime() - 5_000);
    await database.db.pool.update(paymentIntent).set({ createdAt }).where(eq(paymentIntent.id, made.body.id));
    expect([await listed(`createdTo=${at(-4_999)}`), await listed(`createdTo=${at(-5_000)}`)]).toEqual([
      1, 0,
    ]);
  });
});

describe("the table", () => {
  it("holds no status that does not follow from the state of a clearing", async () => {
    const { body } = await create(tenDollars);
    const set = (values: Partial<typeof paymentIntent.$inferInsert>) =>
      database.db.pool
        .update(paymentIntent)
        .set(values)
        .where(eq(paymentIntent.id, body.id))
        .then(
          () => "kept",
          (error) => error.cause.constraint,
        );
    expect(await set({ status: "completed" })).toBe("payment_intent_status_derived");
    const cleared = { clearingId: "clr_x" as const, executionPath: "x402" as const };
    expect(await set({ ...cleared, clearingState: "settled" })).toBe("payment_intent_status_derived");
    expect(
      await set({ ...cleared, clearingState: "settling", status: "failed", failureReason: "reorged" }),
    ).toBe("payment_intent_status_derived");
    expect(await set({ status: "clearing", clearingState: "settling" })).toBe("payment_intent_cleared");
    expect(await set({ ...cleared, clearingState: "failed", status: "failed" })).toBe(
      "payment_intent_failed",
    );
    expect(await set({ ...cleared, clearingState: "settling", status: "clearing" })).toBe("kept");
  });
});
