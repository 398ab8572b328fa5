import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { fixedRates, type Rates } from "#api";
import type { Payable } from "#facilitator";
import type { outbox } from "#store";
import { linkEvents } from "../../../api/payment-link/events.ts";
import { PaymentLink } from "../../../api/payment-link/schema.ts";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { type Answer, read as asAnswer, type Caller, caller, newCaller } from "../caller.ts";
import { baseUrl, clock, fakeFacilitator, newId, now, rail, world } from "../world.ts";

let app: ReturnType<typeof world>["app"];
let owner: Caller;
let count = 0;
const time = { at: now };
const projected = new Map<string, Payable>();
/** What happens while a request is under way: as a payable is told of, and as a rate is asked for. */
let whenProjected = async (_id: string) => {};
let whenPriced = async () => {};
afterEach(() => {
  whenProjected = async () => {};
  whenPriced = async () => {};
});
const facilitator = fakeFacilitator({
  project: async (_, payable) => {
    projected.set(payable.id, payable);
    await whenProjected(payable.id);
  },
  offer: async () => null,
});
const steady = fixedRates({ clock, log: silentLog });
const rates: Rates = {
  async rate(pair) {
    await whenPriced();
    return steady.rate(pair);
  },
};
const database = sharedDatabase();
beforeAll(async () => {
  ({ app } = world({ db: database.db, facilitator, rates, time: { ...clock, now: () => time.at } }));
  owner = await newCaller(database.db);
});

const root = "/v1/payment-links";
const ten = { amount: "10", asset: "USD" };
const fixed = { kind: "fixed", amount: ten };
function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const key = { "idempotency-key": `k-${++count}` };
  return caller(app, owner)(method, path, { body, headers: { ...key, ...headers } });
}
async function must(method: string, path: string, body?: unknown) {
  const answer = await call(method, path, body);
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}
const link = (body: unknown = fixed) => must("POST", root, body);
const read = (id: string) => must("GET", `${root}/${id}`);
const product = (change: Record<string, unknown> = {}) =>
  must("POST", "/v1/catalog/products", {
    sku: `sku-${++count}`,
    name: "Tea",
    prices: [{ amount: "2.50", asset: "USD" }],
    ...change,
  });
/** As anybody, without a key of the API. */
async function visit(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const key: Record<string, string> = { "idempotency-key": `v-${++count}` };
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const response = await app.request(path, {
    method,
    headers: { ...key, ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return asAnswer(response);
}
const checkout = (id: string, body?: unknown, headers?: Record<string, string>) =>
  visit("POST", `${root}/${id}/checkout`, body, headers);
const codeOf = ({ status, body }: Pick<Answer, "status" | "body">) => [
  status,
  body.code,
  body.errors?.[0]?.pointer,
];
const told = (id: string) =>
  database
    .query<{ type: string }>("SELECT type FROM outbox WHERE subject = $1 ORDER BY sequence", [id])
    .then((rows) => rows.map(({ type }) => type));

describe("POST /v1/payment-links", () => {
  it("makes one, unlisted and payable, and projects it for agents", async () => {
    const input = { ...fixed, title: "Tickets", metadata: { show: "7" }, merchant: { city: "Bergen" } };
    const answer = await call("POST", root, input);
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `${root}/${answer.body.id}`]);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^plink_/),
      kind: "fixed",
      merchant: { id: owner.merchantId, name: "Shop", city: "Bergen", countryCode: "NO", categoryCode: null },
      amount: { amount: "10.00", asset: "USD", formatted: "10.00 USD", display: "$10.00" },
      currency: "USD",
      lines: [],
      minAmount: null,
      maxAmount: null,
      title: "Tickets",
      merchantReference: null,
      metadata: { show: "7" },
      url: `${baseUrl}/checkout/${answer.body.id}`,
      payable: true,
      listed: false,
      maxPayments: null,
      returnUrl: null,
      expiresAt: null,
      disabledAt: null,
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
      version: 1,
    });
    expect(await read(answer.body.id)).toEqual(answer.body);
    expect(projected.get(answer.body.id)).toMatchObject({
      kind: "payment-link",
      url: `${baseUrl}/x402/payables/${answer.body.id}`,
      pageUrl: answer.body.url,
      price: { amount: 10_000_000n, asset: "USD" },
      rails: [],
      once: false,
      listed: false,
      closedAt: null,
    });
    expect(await told(answer.body.id)).toEqual(["payment_link.created"]);
  });

  it("is done once for a key", async () => {
    const key = { "idempotency-key": "one-link" };
    const first = await call("POST", root, fixed, key);
    expect((await call("POST", root, fixed, key)).body).toEqual(first.body);
    expect(codeOf(await call("POST", root, { ...fixed, title: "x" }, key))[1]).toBe("idempotency_key_reused");
  });

  it.each([
    [{}, 400, "/kind"],
    [{ kind: "gift" }, 400, "/kind"],
    [{ kind: "fixed" }, 400, "/amount"],
    [{ ...fixed, lines: [{ productId: "x", quantity: 1 }] }, 400, "/lines"],
    [{ ...fixed, minAmount: ten }, 400, "/minAmount"],
    [{ ...fixed, currency: "EUR" }, 400, "/amount"],
    [{ ...fixed, amount: { amount: "10", asset: "XXX" } }, 422, "/amount/asset"],
    [{ ...fixed, amount: { amount: "0", asset: "USD" } }, 422, "/amount/amount"],
    [{ ...fixed, amount: { amount: "0.001", asset: "USD" } }, 400, "/amount/amount"],
    [{ ...fixed, amount: { amount: "2000000", asset: "USD" } }, 422, "/amount/amount"],
    [{ ...fixed, expiresAt: "2026-08-11T09:30:00Z" }, 400, "/expiresAt"],
    [{ ...fixed, expiresAt: "soon" }, 400, "/expiresAt"],
    [{ ...fixed, maxPayments: 0 }, 400, "/maxPayments"],
    [{ ...fixed, maxPayments: 1_000_001 }, 400, "/maxPayments"],
    [{ ...fixed, title: "t".repeat(141) }, 400, "/title"],
    [{ ...fixed, returnUrl: "https://elsewhere.example/" }, 422, "/returnUrl"],
    [{ ...fixed, merchant: { id: "mer_01K2C0Z0000000000000000000" } }, 403, "/merchant/id"],
    [{ ...fixed, listed: true }, 400, "/listed"],
    [{ kind: "cart", currency: "USD" }, 400, "/lines"],
    [{ kind: "cart", lines: [{ productId: "x", quantity: 1 }] }, 400, "/currency"],
    [{ kind: "cart", currency: "USD", lines: [] }, 400, "/lines"],
    [{ kind: "cart", currency: "USD", lines: [{ productId: "x", quantity: 0 }] }, 400, "/lines/0/quantity"],
    [{ kind: "cart", currency: "USD", lines: [{ productId: "x", quantity: 1 }] }, 422, "/lines/0/productId"],
    [{ kind: "open" }, 400, "/currency"],
    [{ kind: "open", currency: "XXX" }, 422, "/currency"],
    [{ kind: "open", currency: "EUR", minAmount: ten }, 400, "/minAmount"],
    [
      { kind: "open", currency: "USD", minAmount: { ...ten, amount: "1000000.01" } },
      422,
      "/minAmount/amount",
    ],
    [
      { kind: "open", currency: "USD", minAmount: ten, maxAmount: { ...ten, amount: "9" } },
      400,
      "/maxAmount",
    ],
  ])("refuses %j", async (body, status, pointer) => {
    const answer = await call("POST", root, body);
    expect([answer.status, answer.body.errors.map((each: { pointer: string }) => each.pointer)]).toEqual([
      status,
      expect.arrayContaining([pointer]),
    ]);
  });
});

describe("PATCH /v1/payment-links/{id}", () => {
  it("changes what is given, counts the version and tells; what was already so changes nothing", async () => {
    const made = await link();
    const path = `${root}/${made.id}`;
    const expiresAt = "2026-09-01T00:00:00.000Z";
    const change = { title: "T", expiresAt, maxPayments: 2, metadata: { a: "1" } };
    expect(await must("PATCH", path, change)).toEqual({ ...made, ...change, version: 2 });
    expect((await must("PATCH", path, change)).version).toBe(2);
    expect(await must("PATCH", path, { title: null, expiresAt: null, maxPayments: null })).toMatchObject({
      ...{ title: null, expiresAt: null, maxPayments: null, version: 3 },
    });
    expect(await told(made.id)).toEqual([
      "payment_link.created",
      "payment_link.updated",
      "payment_link.updated",
    ]);
  });

  it("refuses what never changes, a version that is past, an end that is past", async () => {
    const { id } = await link();
    const path = `${root}/${id}`;
    for (const [body, ...expected] of [
      [{ amount: ten }, 400, "validation_failed", "/amount"],
      [{ lines: [] }, 400, "validation_failed", "/lines"],
      [{ expiresAt: "2026-01-01T00:00:00Z" }, 400, "validation_failed", "/expiresAt"],
      [{ title: "x", version: 9 }, 409, "version_conflict", undefined],
    ] as const)
      expect(codeOf(await call("PATCH", path, body))).toEqual(expected);
    expect((await read(id)).version).toBe(1);
    expect((await call("PATCH", `${root}/${newId("plink")}`, { title: "x" })).status).toBe(404);
  });
});

describe("list, unlist, disable, enable", () => {
  it("each done twice changes nothing the second time", async () => {
    const { id } = await link();
    const twice = async (action: string) => {
      const first = await must("POST", `${root}/${id}/${action}`);
      expect(await must("POST", `${root}/${id}/${action}`)).toEqual(first);
      return first;
    };
    expect(await twice("list")).toMatchObject({ listed: true, version: 2 });
    expect(projected.get(id)).toMatchObject({ listed: true });
    expect(await twice("disable")).toMatchObject({ payable: false, listed: true, version: 3 });
    expect(projected.get(id)).toMatchObject({ closedAs: "disabled" });
    expect(await twice("unlist")).toMatchObject({ listed: false, payable: false });
    expect(await twice("enable")).toMatchObject({ disabledAt: null, payable: true });
    expect(projected.get(id)).toMatchObject({ closedAt: null });
    expect(await told(id)).toEqual([
      "payment_link.created",
      "payment_link.updated",
      "payment_link.disabled",
      "payment_link.updated",
      "payment_link.updated",
    ]);
  });

  it("list sets the flag of a link that cannot be paid", async () => {
    const { id } = await link();
    await must("POST", `${root}/${id}/disable`);
    expect(await must("POST", `${root}/${id}/list`)).toMatchObject({ listed: true, payable: false });
  });
});

describe("GET /v1/payment-links", () => {
  it("filters by listed, payable and kind, and pages", async () => {
    const who = await newCaller(database.db);
    const mine = caller(app, who);
    const make = async (body: object) =>
      (await mine("POST", root, { body, headers: { "idempotency-key": `m-${++count}` } })).body.id;
    const [plain, open, off] = [
      await make(fixed),
      await make({ kind: "open", currency: "USD" }),
      await make(fixed),
    ];
    await mine("POST", `${root}/${off}/disable`);
    await mine("POST", `${root}/${open}/list`);
    const ids = async (query: string) =>
      (await mine("GET", `${root}${query}`)).body.map(({ id }: { id: string }) => id).sort();
    expect(await ids("")).toEqual([plain, open, off].sort());
    expect(await ids("?listed=true")).toEqual([open]);
    expect(await ids("?payable=true")).toEqual([plain, open].sort());
    expect(await ids("?payable=false")).toEqual([off]);
    expect(await ids("?kind=fixed&payable=true")).toEqual([plain]);
    const first = await mine("GET", `${root}?limit=2`);
    const rest = await mine("GET", `${root}?limit=2&cursor=${first.headers.get("next-cursor")}`);
    expect([first.body.length, rest.body.length]).toEqual([2, 1]);
    expect((await mine("GET", `${root}?payable=yes`)).status).toBe(400);
  });

  it("has a cart without a price among those that are not payable", async () => {
    const who = await newCaller(database.db);
    const ask = async (method: string, path: string, body?: object) =>
      (await caller(app, who)(method, path, { body, headers: { "idempotency-key": `m-${++count}` } })).body;
    const prices = [{ amount: "2", asset: "USD" }];
    const carts: string[] = [];
    for (const change of [{ active: false }, { prices: [{ amount: "2", asset: "EUR" }] }, {}]) {
      const tea = await ask("POST", "/v1/catalog/products", { sku: `s-${++count}`, name: "Tea", prices });
      const lines = [{ productId: tea.id, quantity: 1 }];
      carts.push((await ask("POST", root, { kind: "cart", currency: "USD", lines })).id);
      await ask("PATCH", `/v1/catalog/products/${tea.id}`, change);
    }
    const ids = async (query: string) =>
      (await ask("GET", `${root}${query}`)).map(({ id }: { id: string }) => id).sort();
    expect(await ids("?payable=false")).toEqual(carts.slice(0, 2).sort());
    expect(await ids("?payable=true")).toEqual(carts.slice(2));
  });
});

describe("POST /v1/payment-links/{id}/checkout", () => {
  it("makes an intent; the link's own words go before the payer's", async () => {
    const { id } = await link({ ...fixed, merchantReference: "ours", metadata: { a: "link" } });
    const metadata = { a: "payer", b: "payer", paymentLinkId: "plink_x" };
    const body = { metadata, merchantReference: "theirs", customer: { email: "ada@shop.example" } };
    const answer = await checkout(id, body);
    const made = `/v1/payment-intents/${answer.body.id}`;
    expect([answer.status, answer.headers.get("location")]).toEqual([201, made]);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^pi_/),
      status: "created",
      source: "payment-link",
      amount: { amount: "10.00", asset: "USD" },
      merchant: { id: owner.merchantId },
      metadata: { a: "link", b: "payer", paymentLinkId: id },
      merchantReference: "ours",
      customer: { email: "ada@shop.example" },
      checkoutUrl: `${baseUrl}/checkout/${answer.body.id}`,
    });
    expect(await must("GET", `/v1/payment-intents/${answer.body.id}`)).toEqual(answer.body);
  });

  it("lets no payer say what else it pays: it is listed with no invoice and no subscription", async () => {
    const { id } = await link({ kind: "open", currency: "USD" });
    const [invoiceId, subscriptionId] = [newId("inv"), newId("sub")];
    const metadata = { invoiceId, subscriptionId, cycleIndex: "0", resourceId: "x402r_1", note: "mine" };
    const answer = await checkout(id, { amount: ten, metadata });
    expect([answer.status, answer.body.metadata]).toEqual([201, { note: "mine", paymentLinkId: id }]);
    // A merchant notes what it likes on intents of its own; they pay no invoice by it.
    const own = await must("POST", "/v1/payment-intents", { amount: ten, metadata });
    expect(own.metadata).toEqual(metadata);
    for (const query of [`subscriptionId=${subscriptionId}`, `invoiceId=${invoiceId}`])
      expect(await must("GET", `/v1/payments?${query}`)).toEqual([]);
  });

  it("takes as many metadata as leave the link's own their place", async () => {
    const keys = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, "x"]));
    const { id } = await link({ ...fixed, metadata: keys("a", 30) });
    const refused = await checkout(id, { metadata: keys("b", 21) });
    expect(codeOf(refused)).toEqual([400, "validation_failed", "/metadata"]);
    expect(refused.body.errors[0].detail).toContain("at most 20 keys");
    expect((await checkout(id, { metadata: { ...keys("b", 20), ...keys("a", 30) } })).status).toBe(201);
    const full = await link({ ...fixed, metadata: keys("a", 50) });
    expect((await checkout(full.id)).status).toBe(201);
  });

  it("takes no body, and its key is the link's", async () => {
    const [one, two] = [await link(), await link()];
    const key = { "idempotency-key": "same" };
    const first = await checkout(one.id, undefined, key);
    const again = await checkout(one.id, undefined, key);
    expect([again.status, again.body.id, again.headers.get("idempotent-replayed")]).toEqual([
      201,
      first.body.id,
      "true",
    ]);
    const other = await checkout(two.id, undefined, key);
    expect([other.status, other.body.id === first.body.id]).toEqual([201, false]);
    expect(codeOf(await checkout(one.id, { merchantReference: "x" }, key))[1]).toBe("idempotency_key_reused");
    expect(codeOf(await checkout(one.id, undefined, { "idempotency-key": "" }))[1]).toMatch(/^idempotency_/);
  });

  it("is 404 for what is not there, and 409 for what cannot be paid", async () => {
    expect((await checkout(newId("plink"))).status).toBe(404);
    expect((await checkout("x")).status).toBe(404);
    const { id } = await link();
    await must("POST", `${root}/${id}/disable`);
    expect(codeOf(await checkout(id)).slice(0, 2)).toEqual([409, "link_not_payable"]);
  });

  it("ends with the link's end", async () => {
    const { id } = await link({ ...fixed, expiresAt: "2026-08-11T10:30:00+00:00" });
    expect((await checkout(id)).status).toBe(201);
    time.at = new Date("2026-08-11T10:30:00Z");
    try {
      expect(codeOf(await checkout(id))[1]).toBe("link_not_payable");
      expect((await read(id)).payable).toBe(false);
    } finally {
      time.at = now;
    }
  });

  it("of an open link asks the payer for the amount, within its bounds", async () => {
    const bounds = { minAmount: { amount: "5", asset: "USD" }, maxAmount: { amount: "50", asset: "USD" } };
    const { id } = await link({ kind: "open", currency: "USD", ...bounds });
    expect(projected.has(id)).toBe(false);
    const pay = (amount?: unknown) => checkout(id, amount === undefined ? {} : { amount });
    expect((await pay({ amount: "5", asset: "USD" })).body.amount.amount).toBe("5.00");
    expect(codeOf(await pay())).toEqual([400, "validation_failed", "/amount"]);
    expect(codeOf(await pay({ amount: "5", asset: "EUR" }))).toEqual([
      400,
      "validation_failed",
      "/amount/asset",
    ]);
    expect(codeOf(await pay({ amount: "4.99", asset: "USD" }))).toEqual([
      422,
      "amount_too_small",
      "/amount/amount",
    ]);
    expect(codeOf(await pay({ amount: "50.01", asset: "USD" }))).toEqual([
      422,
      "amount_too_large",
      "/amount/amount",
    ]);
    const { id: plain } = await link();
    expect(codeOf(await checkout(plain, { amount: ten }))).toEqual([400, "validation_failed", "/amount"]);
  });

  it.each([
    [{ payment: { chain: "mars" } }, 422, "/payment/chain"],
    [{ executionPath: "wire" }, 400, "/executionPath"],
    [{ customer: { email: "x" } }, 400, "/customer/email"],
    [{ metadata: { "system.a": "1" } }, 400, "/metadata/system.a"],
    [{ returnUrl: "https://x.example" }, 400, "/returnUrl"],
    [{ merchant: {} }, 400, "/merchant"],
  ])("refuses %j", async (body, status, pointer) => {
    const { id } = await link();
    const answer = await checkout(id, body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([status, pointer]);
  });

  it("lets one address leave 50 unpaid in an hour, then waits; other addresses go on", async () => {
    const { id } = await link();
    for (let i = 0; i < 50; i += 1) expect((await checkout(id)).status).toBe(201);
    const refused = await checkout(id);
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
      429,
      "rate_limited",
      "3600",
    ]);
    const { id: another } = await link();
    expect((await checkout(another)).status).toBe(201);
    time.at = new Date(now.getTime() + 3_600_001);
    try {
      expect((await checkout(id)).status).toBe(201);
    } finally {
      time.at = now;
    }
  });

  it("20 at once on 3 places: 3 have one, and agents are asked no more until one is free again", async () => {
    const { id } = await link({ ...fixed, maxPayments: 3 });
    expect(projected.get(id)).toMatchObject({ once: true, closedAt: null });
    const answers = await Promise.all(Array.from({ length: 20 }, () => checkout(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...[201, 201, 201],
      ...Array.from({ length: 17 }, () => 409),
    ]);
    expect(projected.get(id)).toMatchObject({ closedAs: "pending" });
    time.at = new Date(now.getTime() + 901_000);
    try {
      expect((await checkout(id)).status).toBe(201);
    } finally {
      time.at = now;
    }
  });
});

describe("two at once", () => {
  it("for the last place: the second waits for the first, and finds it taken", async () => {
    const { id } = await link({ ...fixed, maxPayments: 1 });
    let second: Promise<Answer> | null = null;
    // The first has counted the places, and has not committed.
    whenProjected = async (told) => {
      if (told !== id || second) return;
      let isOver = false;
      second = checkout(id).finally(() => {
        isOver = true;
      });
      await vi.waitUntil(async () => isOver || (await isAnyoneWaiting()), { timeout: 20_000 });
    };
    const first = await checkout(id);
    expect([first.status, (await (second as Promise<Answer> | null))?.status]).toEqual([201, 409]);
  });

  async function isAnyoneWaiting(): Promise<boolean> {
    const waiting = await database.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  }
});

describe("a link of a cart", () => {
  it("409 where its price changes while it is checked out: nobody pays what it does not cost", async () => {
    const tea = await product({ prices: [{ amount: "2.50", asset: "GBP" }] });
    const { id } = await link({
      kind: "cart",
      currency: "GBP",
      lines: [{ productId: tea.id, quantity: 1 }],
    });
    whenPriced = async () => {
      whenPriced = async () => {};
      const prices = [{ amount: "3", asset: "GBP" }];
      await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices });
    };
    const answer = await checkout(id);
    expect([answer.status, answer.body.code]).toEqual([409, "link_not_payable"]);
    expect(answer.body.detail).toContain("price has just changed");
    expect((await checkout(id)).body.amount).toMatchObject({ amount: "3.00", asset: "GBP" });
  });

  it("asks for what its products cost now", async () => {
    const tea = await product();
    const lines = [{ productId: tea.id, quantity: 3 }];
    const made = await link({ kind: "cart", currency: "USD", lines });
    expect(made).toMatchObject({ amount: { amount: "7.50" }, currency: "USD", lines, payable: true });
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices: [{ amount: "3", asset: "USD" }] });
    expect((await read(made.id)).amount.amount).toBe("9.00");
    const paid = await checkout(made.id);
    expect(paid.body.amount.amount).toBe("9.00");
    const [kept] = await database.query<{ lines: unknown }>("SELECT lines FROM cart WHERE intent_id = $1", [
      paid.body.id,
    ]);
    expect(kept?.lines).toEqual([{ productId: tea.id, name: "Tea", unitPrice: "300", quantity: 3 }]);
  });

  it("is not payable while something in it is not for sale", async () => {
    const tea = await product();
    const made = await link({
      kind: "cart",
      currency: "USD",
      lines: [{ productId: tea.id, quantity: 1 }],
    });
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { active: false });
    expect(await read(made.id)).toMatchObject({ amount: null, payable: false });
    expect(codeOf(await checkout(made.id))[1]).toBe("link_not_payable");
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { active: true });
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices: [{ amount: "3", asset: "EUR" }] });
    expect(await read(made.id)).toMatchObject({ amount: null, payable: false });
  });

  it("that has come to cost nothing is closed to agents, at what it last cost", async () => {
    const tea = await product();
    const made = await link({
      kind: "cart",
      currency: "USD",
      lines: [{ productId: tea.id, quantity: 1 }],
    });
    const { price } = projected.get(made.id) ?? {};
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices: [{ amount: "0", asset: "USD" }] });
    expect(await must("POST", `${root}/${made.id}/disable`)).toMatchObject({ payable: false });
    const closed = { closedAs: "disabled", price };
    expect(projected.get(made.id)).toMatchObject(closed);
    await must("POST", `${root}/${made.id}/enable`);
    expect(projected.get(made.id)).toMatchObject(closed);
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices: [{ amount: "3", asset: "USD" }] });
    await must("POST", `${root}/${made.id}/list`);
    expect(projected.get(made.id)).toMatchObject({ closedAs: null, listed: true });
  });

  it("whose kept cost is nothing is closed to agents all the same", async () => {
    const tea = await product();
    const lines = [{ productId: tea.id, quantity: 1 }];
    const { id } = await link({ kind: "cart", currency: "USD", lines });
    await database.query("UPDATE payment_link SET amount = 0 WHERE id = $1", [id]);
    await must("PATCH", `/v1/catalog/products/${tea.id}`, { active: false });
    await must("POST", `${root}/${id}/disable`);
    expect(projected.get(id)).toMatchObject({ closedAs: "disabled" });
    expect(projected.get(id)?.price.amount).toBeGreaterThan(0n);
  });
});

describe("GET /v1/payment-links/{id}/rails", () => {
  it("tells each rail with what the link costs there, to whoever holds its id", async () => {
    const { id } = await link();
    const { status, body } = await visit("GET", `${root}/${id}/rails`);
    expect([status, body]).toEqual([
      200,
      [
        {
          chain: rail.chain,
          network: rail.network,
          asset: "USDC",
          contract: rail.contract,
          settlementAsset: "USDC",
          executionPaths: ["deposit-match", "x402"],
          amount: {
            amount: "10.000000",
            asset: "USDC",
            formatted: "10.00 USDC",
            display: "10.00 USDC",
          },
          rate: { scaledRate: "1000000000000000000", source: "parity" },
          available: true,
          confirmationsRequired: 12,
          estimatedSeconds: 24,
        },
      ],
    ]);
  });

  it("of an open link takes the amount from the query, or tells the rate alone", async () => {
    const { id } = await link({ kind: "open", currency: "USD" });
    const ask = (query: string) => visit("GET", `${root}/${id}/rails${query}`);
    expect((await ask("")).body[0]).toMatchObject({ amount: null, available: true });
    expect((await ask("?amount=2.5")).body[0].amount.amount).toBe("2.500000");
    expect(codeOf(await ask("?amount=-1"))).toEqual([400, "validation_failed", "/query/amount"]);
    expect(codeOf(await ask("?amount=1.234"))).toEqual([400, "too_many_decimals", "/query/amount"]);
    expect((await visit("GET", `${root}/${newId("plink")}/rails`)).status).toBe(404);
  });
});

describe("events of links", () => {
  it("show the link as its endpoint does, and nothing of another merchant's", async () => {
    const made = await link();
    const family = linkEvents({ baseUrl, facilitator, now: () => now });
    const fact = (subject: string, merchantId = owner.merchantId): outbox.Fact => ({
      ...{ id: newId("evt"), type: "payment_link.created", subject, merchantId, payload: {} },
    });
    const facts = [fact(newId("plink")), fact(made.id), fact(made.id, "mer_other")];
    const [gone, shown, foreign] = await family.present(database.db.pool, facts);
    expect([gone, shown, foreign]).toEqual([null, made, null]);
    expect(family.object).toBe(PaymentLink);
    expect(family.types).toContain("payment_link.disabled");
  });
});
