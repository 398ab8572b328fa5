/** Links on a real chain: what discovery shows, what agents and people pay, and what the books say of it. */
import { describe, expect, it } from "vitest";
import { stockBuyer } from "../../conformance/stock-buyer.ts";
import { newAgent } from "../../mcp/world.ts";
import { newPayer, sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller, statesOf } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared by the tests
type Body = any;
let count = 0;
const world = sharedWorld();
const seller = sharedSeller(world);

const half = { amount: "0.50", asset: "USD" };
const link = (body: object = {}): Promise<Body> =>
  seller.must("POST", "/v1/payment-links", { kind: "fixed", amount: half, ...body });
const switchTo = (id: string, action: string): Promise<Body> =>
  seller.must("POST", `/v1/payment-links/${id}/${action}`);
const read = (id: string): Promise<Body> => seller.must("GET", `/v1/payment-links/${id}`);
const agentUrl = (id: string) => `${world.baseUrl}/x402/payables/${id}`;

/** An unmodified client with money of its own. */
async function agentPays(url: string, amount = 500_000n): Promise<{ status: number; body: Body }> {
  const payer = await newPayer(world.dev, amount);
  const network = `eip155:${world.dev.anvil.chainId}` as const;
  const { pay } = stockBuyer(payer, network, { allowedAssets: [{ network, asset: world.dev.usdc }] });
  const response = await pay(url, { headers: { Accept: "application/json" } });
  return { status: response.status, body: await response.json() };
}

async function checkout(id: string, body: object = {}): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${world.baseUrl}/v1/payment-links/${id}/checkout`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": `payer-${++count}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** The link's payments, once there are so many. */
async function paymentsOf(id: string, howMany: number): Promise<Body[]> {
  const all = async (): Promise<Body[]> =>
    (await seller.must("GET", "/v1/payments?source=payment-link&status=completed&limit=200")).filter(
      ({ paymentIntent }: Body) => paymentIntent.metadata.paymentLinkId === id,
    );
  await until(async () => (await all()).length >= howMany, `${id} has ${howMany} payments`);
  return all();
}

const inIndex = async (id: string): Promise<Body> =>
  ((await (await fetch(`${world.baseUrl}/x402/payables?limit=100`)).json()) as Body).items.find(
    (item: Body) => item.id === id,
  );

describe("a listed link", () => {
  it("is found in the index and over MCP, paid by an unmodified client, and credited once", async () => {
    const { id, url } = await link({ title: "Zebra crossing poster", metadata: { show: "7" } });
    expect(await inIndex(id)).toBeUndefined();
    await switchTo(id, "list");
    expect(await inIndex(id)).toMatchObject({
      resource: agentUrl(id),
      kind: "payment-link",
      title: "Zebra crossing poster",
      amount: { amount: "0.50", asset: "USD" },
      merchant: { id: seller.id },
      url,
    });
    const agent = await newAgent(world.baseUrl, "auto");
    const found = await agent.call("search_payables", { query: "zebra poster" });
    await agent.close();
    expect(JSON.stringify(found.structuredContent)).toContain(agentUrl(id));

    const { status, body: receipt } = await agentPays(agentUrl(id));
    expect(status).toBe(200);
    expect(receipt).toMatchObject({
      success: true,
      payable: { id, kind: "payment-link", url: agentUrl(id) },
      amount: { decimal: "0.500000", symbol: "USDC" },
    });
    const [{ paymentIntent, clearing }] = await paymentsOf(id, 1);
    expect(paymentIntent).toMatchObject({
      source: "payment-link",
      executionPath: "x402",
      amount: { amount: "0.50", asset: "USD" },
      metadata: { show: "7", paymentLinkId: id },
    });
    expect(clearing).toMatchObject({ state: "settled", providerReference: receipt.paymentId });
    expect(statesOf(await seller.read(paymentIntent.id)).at(-1)).toBe("settled");
    expect(await ledgerOf(world.database, receipt.paymentId)).toEqual([
      "pending net treasury → available 497500",
      "pending fee treasury → fees 2500",
    ]);
    expect(await ledgerOf(world.database, clearing.id)).toEqual([]);
    await expectAtRest(world);
    expect(await paymentsOf(id, 1)).toHaveLength(1);
    // and it can be paid again
    expect((await agentPays(agentUrl(id))).status).toBe(200);
    expect(await paymentsOf(id, 2)).toHaveLength(2);
  });

  it("unlisted is not found, and still payable by its URL, also by that of its page", async () => {
    const { id, url } = await link({ title: "Quokka sticker" });
    await switchTo(id, "list");
    await switchTo(id, "unlist");
    expect(await inIndex(id)).toBeUndefined();
    const agent = await newAgent(world.baseUrl, "auto");
    const found = await agent.call("search_payables", { query: "quokka" });
    expect(JSON.stringify(found.structuredContent)).not.toContain(id);
    expect((await agent.call("get_payable", { url })).structuredContent).toMatchObject({ id, state: "open" });
    await agent.close();
    expect((await agentPays(agentUrl(id))).status).toBe(200);
    expect((await agentPays(url)).body).toMatchObject({ success: true, payable: { id } });
    expect(await paymentsOf(id, 2)).toHaveLength(2);
  });

  it("disabled is gone for agents, and back when enabled", async () => {
    const { id } = await link();
    await switchTo(id, "list");
    await switchTo(id, "disable");
    const gone = await fetch(agentUrl(id));
    expect([gone.status, await gone.json()]).toMatchObject([
      410,
      { code: "payable_closed", state: "disabled" },
    ]);
    expect(await inIndex(id)).toBeUndefined();
    await switchTo(id, "enable");
    expect((await fetch(agentUrl(id))).status).toBe(402);
    expect(await inIndex(id)).toBeDefined();
  });

  it("of a cart is offered to agents at what its products cost by now", async () => {
    const prices = (amount: string) => [{ amount, asset: "USD" }];
    const product = { sku: `s-${++count}`, name: "Tea", prices: prices("0.20") };
    const tea = await seller.must("POST", "/v1/catalog/products", product);
    const { id } = await link({
      ...{ kind: "cart", amount: undefined, currency: "USD" },
      lines: [{ productId: tea.id, quantity: 2 }],
    });
    const path = `/v1/catalog/products/${tea.id}`;
    const asked = async (): Promise<string | undefined> => {
      const header = (await fetch(agentUrl(id))).headers.get("PAYMENT-REQUIRED");
      return header ? JSON.parse(Buffer.from(header, "base64").toString()).accepts[0].amount : undefined;
    };
    expect(await asked()).toBe("400000");
    await seller.must("PATCH", path, { prices: prices("0.25") });
    await until(async () => (await asked()) === "500000", "the link costs more");
    expect((await agentPays(agentUrl(id))).status).toBe(200);
    await seller.must("PATCH", path, { active: false });
    await until(async () => (await fetch(agentUrl(id))).status === 410, "the link is closed");
    await seller.must("PATCH", path, { active: true });
    await until(async () => (await fetch(agentUrl(id))).status === 402, "the link is open");
    await seller.must("PATCH", path, { prices: prices("0") });
    await until(async () => (await fetch(agentUrl(id))).status === 410, "what costs nothing is closed");
    await seller.must("PATCH", path, { prices: prices("0.30") });
    await until(async () => (await asked()) === "600000", "the link is open at its new price");
  });
});

describe("a link that is not offered directly", () => {
  const asked = async (url: string) => {
    const response = await fetch(url);
    const header = response.headers.get("PAYMENT-REQUIRED");
    const required = header && JSON.parse(Buffer.from(header, "base64").toString());
    return { status: response.status, required, body: (await response.json()) as Body };
  };

  it("of an open amount is paid what the agent names in the query", async () => {
    const { id } = await link({
      ...{ kind: "open", amount: undefined, currency: "USD" },
      minAmount: { amount: "0.20", asset: "USD" },
    });
    const url = `${agentUrl(id)}?amount=0.75`;
    const { status, required } = await asked(url);
    expect([status, required.accepts[0].amount]).toEqual([402, "750000"]);
    expect(required.resource.url).toMatch(/payables[/]pi_/);
    const paid = await agentPays(url, 750_000n);
    expect(paid).toMatchObject({
      status: 200,
      body: { success: true, payable: { kind: "payment-intent" } },
    });
    const [{ paymentIntent }] = await paymentsOf(id, 1);
    expect(paymentIntent).toMatchObject({
      ...{ source: "payment-link", executionPath: "x402", amount: { amount: "0.75", asset: "USD" } },
      metadata: { paymentLinkId: id },
    });
    expect(await ledgerOf(world.database, paid.body.paymentId)).toEqual([
      "pending net treasury → available 746250",
      "pending fee treasury → fees 3750",
    ]);
    for (const [query, told] of [
      ["", 400],
      ["?amount=nothing", 400],
      ["?amount=0.123456789", 400],
      ["?amount=0.10", 422],
      ["?amount=0.75&amount=0.50", 400],
    ] as const) {
      const { status, body } = await asked(agentUrl(id) + query);
      expect([query, status, body.errors[0].pointer]).toEqual([query, told, "/query/amount"]);
    }
    await switchTo(id, "disable");
    expect(await asked(url)).toMatchObject({ status: 409, body: { code: "link_not_payable" } });
  });

  it("in a currency without a coin is paid at a rate that is locked for the visit", async () => {
    const { id } = await link({ amount: { amount: "0.40", asset: "GBP" } });
    const { status, required } = await asked(agentUrl(id));
    expect(status).toBe(402);
    const amount = BigInt(required.accepts[0].amount);
    expect((await agentPays(agentUrl(id), amount)).body.success).toBe(true);
    const [{ clearing }] = await paymentsOf(id, 1);
    expect(clearing.rate).toMatchObject({ from: "GBP", to: "USDC", source: "fixed" });
    expect(await inIndex(id)).toBeUndefined();
    await switchTo(id, "list");
    expect(await inIndex(id)).toMatchObject({
      resource: agentUrl(id),
      amount: { amount: "0.40" },
      accepts: [],
    });
    await switchTo(id, "disable");
    expect(await inIndex(id)).toBeUndefined();
  });

  it("with one place keeps it for who has it: they are asked for the same again, and pay", async () => {
    const { id } = await link({ amount: { amount: "0.40", asset: "GBP" }, maxPayments: 1 });
    const [first, again] = [await asked(agentUrl(id)), await asked(agentUrl(id))];
    expect([first.status, again.status]).toEqual([402, 402]);
    expect(again.required).toEqual(first.required);
    expect((await agentPays(agentUrl(id), BigInt(first.required.accepts[0].amount))).body.success).toBe(true);
    await paymentsOf(id, 1);
    expect((await asked(agentUrl(id))).status).toBe(409);
  });

  it("takes no payment that was signed for another link's intent", async () => {
    const open = { kind: "open", amount: undefined, currency: "USD" };
    const [one, two] = [await link(open), await link(open)];
    const { required } = await asked(`${agentUrl(one.id)}?amount=0.50`);
    const payload = {
      x402Version: 2,
      resource: required.resource,
      accepted: required.accepts[0],
      payload: {},
    };
    const header = Buffer.from(JSON.stringify(payload)).toString("base64");
    const told = await fetch(agentUrl(two.id), { headers: { "PAYMENT-SIGNATURE": header } });
    expect(told.status).toBe(404);
  });
});

describe("an amount that is named for what says itself what it costs", () => {
  it("is refused, before a client that pays whatever it is asked for pays another", async () => {
    const invoice = await seller.must("POST", "/v1/invoices", {
      ...{ buyer: { name: "Ada" }, currency: "USD", issue: true },
      lines: [{ name: "Tea", unitPrice: { amount: "3.00", asset: "USD" } }],
    });
    const inPounds = await seller.must("POST", "/v1/invoices", {
      ...{ buyer: { name: "Ada" }, currency: "GBP", issue: true },
      lines: [{ name: "Tea", unitPrice: { amount: "3.00", asset: "GBP" } }],
    });
    for (const { id } of [await link(), invoice, inPounds]) {
      const told = await fetch(`${agentUrl(id)}?amount=1.00`);
      expect([told.status, await told.json()]).toMatchObject([
        400,
        { errors: [{ pointer: "/query/amount", detail: expect.stringMatching(/^none: /) }] },
      ]);
      expect((await fetch(agentUrl(id))).status).toBe(402);
    }
  });
});

describe("GET /checkout/{id}", () => {
  it("answers who asks for JSON as the agent URL does, and everybody else with the page", async () => {
    const { id, url } = await link();
    const response = await fetch(url, { headers: { accept: "application/json" } });
    expect([response.status, response.headers.has("PAYMENT-REQUIRED")]).toEqual([402, true]);
    const intent = (await checkout(id)).body;
    expect((await fetch(intent.checkoutUrl, { headers: { accept: "application/json" } })).status).toBe(402);
    for (const accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"]) {
      const page = await fetch(url, { headers: { accept } });
      expect([page.status, page.headers.has("PAYMENT-REQUIRED")]).toEqual([200, false]);
      expect(page.headers.get("Link")).toContain(`/x402/payables/${id}>`);
    }
  });
});

describe("a link that may be paid a number of times", () => {
  it("is paid by a deposit: from then on it is used up, for people and for agents", async () => {
    const { id } = await link({ amount: { amount: "10.00", asset: "USD" }, maxPayments: 1 });
    const { body: intent } = await checkout(id);
    // the place is the payer's while the intent can be paid
    expect((await fetch(agentUrl(id))).status).toBe(409);
    expect((await read(id)).payable).toBe(true);
    const position = await seller.confirm(intent.id);
    expect((await read(id)).payable).toBe(false);
    await sendTo(world, position.deposit.address, 10_000_000n);
    const paid = await seller.reaches(intent.id, "settled");
    expect(paid.paymentIntent.metadata).toEqual({ paymentLinkId: id });
    expect((await ledgerOf(world.database, paid.clearing.id)).length).toBeGreaterThan(0);
    expect((await checkout(id)).body.code).toBe("link_not_payable");
    await until(async () => {
      const gone = await fetch(agentUrl(id));
      return ((await gone.json()) as Body).state === "paid";
    }, "agents are told that it is paid");
    await seller.must("PATCH", `/v1/payment-links/${id}`, { maxPayments: 2 });
    expect((await read(id)).payable).toBe(true);
    expect((await agentPays(agentUrl(id), 10_000_000n)).status).toBe(200);
    expect(await paymentsOf(id, 2)).toHaveLength(2);
  });

  it("frees the place of an intent that is cancelled", async () => {
    const { id } = await link({ maxPayments: 1 });
    const { body: intent } = await checkout(id);
    expect((await fetch(agentUrl(id))).status).toBe(409);
    await seller.cancel(intent.id);
    await until(async () => (await fetch(agentUrl(id))).status === 402, "agents are asked again");
    expect((await checkout(id)).status).toBe(201);
  });

  it("is paid by agents one after the other, as often as it may be", async () => {
    const { id } = await link({ maxPayments: 3 });
    for (let i = 1; i <= 3; i += 1) {
      expect((await agentPays(agentUrl(id))).status).toBe(200);
      await paymentsOf(id, i);
      await until(async () => {
        const { status } = await fetch(agentUrl(id));
        return status === (i < 3 ? 402 : 410);
      }, `it was told of payment ${i}`);
    }
    expect(await read(id)).toMatchObject({ payable: false });
    expect(((await (await fetch(agentUrl(id))).json()) as Body).state).toBe("paid");
    expect((await checkout(id)).status).toBe(409);
  });

  it("20 at once, people and agents, on 3 places: never more than 3 have one", async () => {
    const { id } = await link({ maxPayments: 3 });
    const everybody = Array.from({ length: 20 }, (_, i) =>
      i % 2 ? checkout(id) : agentPays(agentUrl(id)).catch(() => ({ status: 0, body: {} as Body })),
    );
    const answers = await Promise.all(everybody);
    const intents = answers.filter(({ status }) => status === 201);
    const receipts = answers.filter(({ status, body }) => status === 200 && body.success);
    expect(intents.length + receipts.length).toBeLessThanOrEqual(3);
    expect(intents.length + receipts.length).toBeGreaterThan(0);
    await expectAtRest(world);
    await paymentsOf(id, receipts.length);
    for (const { body } of intents) await seller.confirm(body.id);
    const [{ live } = { live: "" }] = await world.database.query<{ live: string }>(
      `SELECT count(*) AS live FROM payment_intent
       WHERE metadata->>'paymentLinkId' = $1 AND status IN ('created', 'clearing', 'completed')`,
      [id],
    );
    expect(Number(live)).toBe(intents.length + receipts.length);
    const [{ credited } = { credited: "" }] = await world.database.query<{ credited: string }>(
      "SELECT count(*) AS credited FROM claim WHERE payable_id = $1 AND credit_state <> 'none'",
      [id],
    );
    expect(Number(credited)).toBe(receipts.length);
  });
});
