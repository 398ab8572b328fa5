/** Agents who pay invoices in a currency that no coin is at parity with, at the invoice's own URL and over MCP. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fixedRates } from "#api";
import { whileBlocksAreHeld } from "../../conformance/held-blocks.ts";
import { stockBuyer } from "../../conformance/stock-buyer.ts";
import { newAgent, signRequired } from "../../mcp/world.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { newPayer, startWorld, until, type World } from "../../support/house.ts";
import { movableClock, newSeller, type Seller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { type Body, draft, issued, read } from "./bills.ts";

const clock = movableClock();
const fixed = fixedRates({ clock, log: silentLog });
let isPriced = true;
let world: World;
let seller: Seller;
beforeAll(async () => {
  const rates = {
    rate: (...asked: Parameters<typeof fixed.rate>) =>
      isPriced ? fixed.rate(...asked) : Promise.resolve({ ok: false as const, reason: "no-source" as never }),
  };
  world = await startWorld({ clock, rates, settings: { maxWaitMs: 1_500 } });
  seller = await newSeller(world);
});
afterEach(() => {
  isPriced = true;
});
afterAll(() => world.stop());

const inPounds = {
  currency: "GBP",
  lines: [{ name: "Tea", unitPrice: { amount: "0.40", asset: "GBP" } }],
};
async function newInvoice(): Promise<{ id: string; url: string }> {
  const { id } = await issued(seller, inPounds);
  return { id, url: `${world.baseUrl}/x402/payables/${id}` };
}

const toHeader = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
async function visit(url: string, payment?: unknown): Promise<Body> {
  const headers = payment === undefined ? undefined : { "PAYMENT-SIGNATURE": toHeader(payment) };
  const response = await fetch(url, headers ? { headers } : {});
  const required = response.headers.get("PAYMENT-REQUIRED");
  return {
    status: response.status,
    body: await response.json(),
    required: required === null ? null : JSON.parse(Buffer.from(required, "base64").toString()),
  };
}
const signFor = async (required: Body) => signRequired(await newPayer(world.dev, 5_000_000n), required);

const intentsOf = (id: string) =>
  world.database.query<{ id: string }>(
    "SELECT id FROM payment_intent WHERE metadata->>'invoiceId' = $1 ORDER BY id",
    [id],
  );
async function isPaid(id: string): Promise<void> {
  await until(async () => (await read(seller, id)).state === "paid", `${id} is paid`);
}

describe("at its own URL", () => {
  it("an unmodified client pays it at a rate that is locked for it: credited once, and the invoice is paid", async () => {
    const { id, url } = await newInvoice();
    const network = `eip155:${world.dev.anvil.chainId}` as const;
    const payer = await newPayer(world.dev, 5_000_000n);
    const { pay } = stockBuyer(payer, network, { allowedAssets: [{ network, asset: world.dev.usdc }] });
    const response = await pay(url);
    const receipt: Body = await response.json();
    expect([response.status, receipt.success]).toEqual([200, true]);
    await isPaid(id);
    expect(await read(seller, id)).toMatchObject({ paid: { amount: "0.40", asset: "GBP" } });
    const [made, ...more] = await intentsOf(id);
    expect(more).toEqual([]);
    const { clearing } = await seller.read(made?.id ?? "");
    expect(clearing.rate).toMatchObject({ from: "GBP", to: "USDC", source: "fixed" });
    expect(await ledgerOf(world.database, receipt.paymentId)).toHaveLength(2);
    await expectAtRest(world);
    // and nobody is asked once more
    expect(await visit(url)).toMatchObject({ status: 410, body: { code: "payable_closed", state: "paid" } });
    expect(await intentsOf(id)).toHaveLength(1);
  });

  it("visits share an intent while its rate holds long enough to sign, and get another afterwards", async () => {
    const { id, url } = await newInvoice();
    const [one, two] = [await visit(url), await visit(url)];
    expect([one.status, two.required]).toEqual([402, one.required]);
    expect(await intentsOf(id)).toHaveLength(1);
    clock.forward(12 * 60_000);
    const later = await visit(url);
    expect(later.status).toBe(402);
    expect(later.required.resource).not.toEqual(one.required.resource);
    expect(await intentsOf(id)).toHaveLength(2);
  });

  it.each([
    ["names its intent", (payment: Body) => payment],
    ["names nothing", ({ resource: _, ...payment }: Body) => payment],
  ])("a payment that %s is a duplicate when it comes again", async (_, sent) => {
    const { id, url } = await newInvoice();
    const payment = sent(await signFor((await visit(url)).required));
    const first = await visit(url, payment);
    expect([first.status, first.body.success]).toEqual([200, true]);
    await isPaid(id);
    expect(await visit(url, payment)).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: first.body.transaction },
    });
    expect(await intentsOf(id)).toHaveLength(1);
  });

  it("a payment whose outcome is open is joined by its repetition, and nobody else is asked to pay", async () => {
    const { url } = await newInvoice();
    const payment = await signFor((await visit(url)).required);
    const [first, again, other] = await whileBlocksAreHeld(world.dev, async () => [
      await visit(url, payment),
      await visit(url, payment),
      await visit(url),
    ]);
    const { paymentId } = first.body.extra;
    expect(again.body).toMatchObject({ errorReason: "settlement_pending", extra: { paymentId } });
    expect(other).toMatchObject({ status: 409, body: { code: "payment_pending" } });
    expect(other.body.statusUrl).toContain(paymentId);
    await until(async () => (await visit(url, payment)).body.success === true, "it is told of");
  });

  it("nobody is asked to pay it at the address of its intent either", async () => {
    const { url } = await newInvoice();
    const required = (await visit(url)).required;
    const payment = await signFor(required);
    const [first, other] = await whileBlocksAreHeld(world.dev, async () => [
      await visit(url, payment),
      await visit(required.resource.url),
    ]);
    expect(first.body).toMatchObject({ errorReason: "settlement_pending" });
    expect(other).toMatchObject({ status: 409, body: { code: "payment_pending" } });
  });

  it("three times at once is paid once, and no call is told to sign again", async () => {
    const { id, url } = await newInvoice();
    const payment = await signFor((await visit(url)).required);
    const answers = await Promise.all([1, 2, 3].map(() => visit(url, payment)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(answers.map(({ status }) => status)).not.toContain(402);
    await isPaid(id);
    await expectAtRest(world);
  });

  it("without a price nobody is asked to pay, and nothing is made", async () => {
    const { id, url } = await newInvoice();
    isPriced = false;
    expect(await visit(url)).toMatchObject({ status: 424, body: { code: "rate_unavailable" } });
    expect(await intentsOf(id)).toEqual([]);
  });

  it("a listed one is found, with its price as it was billed; who looks for a coin is not shown it", async () => {
    const { id, url } = await newInvoice();
    await seller.must("POST", `/v1/invoices/${id}/list`);
    const found = async (query: string): Promise<Body> =>
      ((await (await fetch(`${world.baseUrl}/x402/payables?limit=100${query}`)).json()) as Body).items.find(
        (item: Body) => item.id === id,
      );
    expect(await found("")).toMatchObject({
      ...{ resource: url, kind: "invoice", currency: "GBP", accepts: [], rails: [] },
      amount: { amount: "0.40", asset: "GBP", display: "£0.40" },
    });
    expect(await found("&currency=GBP")).toBeDefined();
    for (const query of ["&currency=USD", "&asset=USDC", "&network=local", "&maxUsdPrice=5"])
      expect([query, await found(query)]).toEqual([query, undefined]);
    const payment = await signFor((await visit(url)).required);
    expect((await visit(url, payment)).body.success).toBe(true);
    await isPaid(id);
    expect(await found("")).toBeUndefined();
  });

  it("a draft and a void invoice are not for agents", async () => {
    const { id } = await seller.must("POST", "/v1/invoices", draft(inPounds));
    expect((await visit(`${world.baseUrl}/x402/payables/${id}`)).status).toBe(404);
    const { id: gone, url } = await newInvoice();
    await seller.must("POST", `/v1/invoices/${gone}/void`);
    expect(await visit(url)).toMatchObject({ status: 410, body: { code: "payable_closed", state: "void" } });
  });

  it("a payment that was signed for another invoice is refused, also where both cost the same", async () => {
    const [one, two] = [await newInvoice(), await newInvoice()];
    const payment = await signFor((await visit(one.url)).required);
    expect((await visit(two.url, payment)).status).toBe(404);
    expect((await read(seller, two.id)).state).toBe("open");
    expect((await visit(one.url, payment)).body.success).toBe(true);
  });

  it("a payment that was signed for an intent of the merchant's own is refused, also where that names the invoice", async () => {
    const { id, url } = await newInvoice();
    const own = await seller.must("POST", "/v1/payment-intents", {
      ...{ amount: { amount: "0.40", asset: "GBP" }, executionPath: "x402", metadata: { invoiceId: id } },
    });
    const payment = await signFor((await visit(`${world.baseUrl}/x402/payables/${own.id}`)).required);
    expect((await visit(url, payment)).status).toBe(404);
  });

  it("a payment that has paid something else is told so, and asked about once", async () => {
    const [one, two] = [await newInvoice(), await newInvoice()];
    const { resource: _, ...payment } = await signFor((await visit(one.url)).required);
    expect((await visit(one.url, payment)).body.success).toBe(true);
    expect(await visit(two.url, payment)).toMatchObject({
      status: 409,
      body: { errorReason: "authorization_bound_elsewhere" },
    });
    expect((await read(seller, two.id)).state).toBe("open");
  });
});

it("over MCP it is priced, paid and told like any other", async () => {
  const { id } = await newInvoice();
  const agent = await newAgent(world.baseUrl, "auto");
  try {
    const { structuredContent: payable } = await agent.call("get_payable", { id });
    expect(payable).toMatchObject({ state: "open", amount: { symbol: "USDC" }, next: { action: "sign" } });
    const payment = await signFor(payable.paymentRequired);
    const { structuredContent: receipt } = await agent.call("pay_payable", { payableId: id, payment });
    expect(receipt).toMatchObject({ success: true, status: "settled" });
    await isPaid(id);
    const { structuredContent: after } = await agent.call("get_payable", { id });
    expect(after).toMatchObject({ id, state: "paid", amount: { decimal: "0.40", symbol: "GBP" } });
  } finally {
    await agent.close();
  }
});
