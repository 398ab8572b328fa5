/** What becomes of a link when somebody wants to pay it. */
import { describe, expect, it, vi } from "vitest";
import type { Answer } from "../caller.ts";
import { baseUrl, newId, now } from "../world.ts";
import { codeOf, fixed, linkShop, root, ten } from "./shop.ts";

const { database, owner, time, projected, during, must, link, read, product, checkout } = linkShop();

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
    during.projecting = async (told) => {
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
    during.pricing = async () => {
      during.pricing = async () => {};
      const prices = [{ amount: "3", asset: "GBP" }];
      await must("PATCH", `/v1/catalog/products/${tea.id}`, { prices });
    };
    const answer = await checkout(id);
    expect([answer.status, answer.body.code]).toEqual([409, "link_not_payable"]);
    expect(answer.body.detail).toContain("price has just changed");
    expect((await checkout(id)).body.amount).toMatchObject({ amount: "3.00", asset: "GBP" });
  });

  it.each([
    ["costs more", { prices: [{ amount: "3", asset: "USD" }] }],
    ["is no longer for sale", { active: false }],
  ])("keeps the lines that its amount was made of, also where a product just then %s", async (_, change) => {
    const tea = await product();
    const lines = [{ productId: tea.id, quantity: 2 }];
    const { id } = await link({ kind: "cart", currency: "USD", lines });
    during.projecting = async (told) => {
      if (told?.startsWith("pi_")) await must("PATCH", `/v1/catalog/products/${tea.id}`, change);
    };
    const answer = await checkout(id);
    expect([answer.status, answer.body.amount?.amount]).toEqual([201, "5.00"]);
    const [kept] = await database.query("SELECT lines FROM cart WHERE intent_id = $1", [answer.body.id]);
    expect(kept).toEqual({ lines: [{ productId: tea.id, name: "Tea", unitPrice: "250", quantity: 2 }] });
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
