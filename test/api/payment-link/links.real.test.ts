/** What a merchant does with its links, and what is told of them. */
import { describe, expect, it } from "vitest";
import type { outbox } from "#store";
import { linkEvents } from "../../../api/payment-link/events.ts";
import { PaymentLink } from "../../../api/payment-link/schema.ts";
import { newCaller } from "../caller.ts";
import { baseUrl, newId, now, rail } from "../world.ts";
import { codeOf, fixed, linkShop, root, ten } from "./shop.ts";

const { database, owner, projected, facilitator, call, callAs, must, visit, link, read, told } = linkShop();

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
      [{ title: "x", version: 9 }, 409, "version_conflict", "/version"],
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
    const mine = callAs(who);
    const make = async (body: object) => (await mine("POST", root, body)).body.id;
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
      (await callAs(who)(method, path, body)).body;
    const prices = [{ amount: "2", asset: "USD" }];
    const carts: string[] = [];
    const changes = [{ active: false }, { prices: [{ amount: "2", asset: "EUR" }] }, {}];
    for (const [i, change] of changes.entries()) {
      const tea = await ask("POST", "/v1/catalog/products", { sku: `s-${i}`, name: "Tea", prices });
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
    expect(codeOf(await ask("?amout=2.5"))).toEqual([400, "validation_failed", "/query/amout"]);
    expect((await visit("GET", `${root}/${newId("plink")}/rails`)).status).toBe(404);
  });

  it("prices no amount that its checkout would refuse", async () => {
    const bounds = { minAmount: ten, maxAmount: { amount: "20", asset: "USD" } };
    const open = { kind: "open", currency: "USD" };
    const [free, bounded, priced] = [await link(open), await link({ ...open, ...bounds }), await link()];
    const ask = (of: { id: string }, amount: string) =>
      visit("GET", `${root}/${of.id}/rails?amount=${amount}`);
    for (const [of, amount, ...expected] of [
      [bounded, "9.99", 422, "amount_too_small"],
      [bounded, "20.01", 422, "amount_too_large"],
      [free, "0", 422, "amount_too_small"],
      [free, "1000000.01", 422, "amount_too_large"],
      [priced, "10", 400, "validation_failed"],
    ] as const)
      expect(codeOf(await ask(of, amount))).toEqual([...expected, "/query/amount"]);
    const fine = await link({ ...open, currency: "USDC" });
    expect((await ask(fine, "0.005")).body[0].amount.amount).toBe("0.005000");
    for (const amount of ["10", "20"]) expect((await ask(bounded, amount)).body[0].available).toBe(true);
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
