/** Three cycles of a subscription, each paid by another road; and a listed invoice as agents meet it. */
import { beforeEach, describe, expect, it } from "vitest";
import { stockBuyer } from "../../conformance/stock-buyer.ts";
import { agentFor } from "../../support/agents.ts";
import { newPayer, sharedWorld, until } from "../../support/house.ts";
import { movableClock, newSeller, routeOrder, type Seller, sendTo } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { type Body, checkout, issued, read } from "../invoice/bills.ts";

const DAY_MS = 86_400_000;
const clock = movableClock();
const world = sharedWorld({ clock });
let seller: Seller;
beforeEach(async () => {
  seller = await newSeller(world);
});

const cyclesOf = async (id: string): Promise<readonly Body[]> =>
  (await seller.must("GET", `/v1/subscriptions/${id}`)).cycles.toReversed();

describe("three cycles", () => {
  it("over x402, by deposit and through the router: states follow, and the books say the same", async () => {
    const { id } = await seller.must("POST", "/v1/subscriptions", {
      customer: { name: "Ada", email: "ada@buyer.example" },
      description: "Hosting",
      amount: { amount: "10.00", asset: "USD" },
      interval: "day",
      daysUntilDue: 0,
    });
    for (const count of [2, 3]) {
      clock.forward(DAY_MS);
      await until(async () => (await cyclesOf(id)).length === count, `${count} cycles are issued`);
    }
    const state = async () => (await seller.must("GET", `/v1/subscriptions/${id}`)).subscription.state;
    await until(async () => (await state()) === "past-due", "it is past due");
    const [first, second, third] = await cyclesOf(id);
    expect((await (await agentFor(world, first.id)).send()).body.success).toBe(true);
    const deposited = await seller.confirm((await checkout(world, second.id)).body.id);
    await sendTo(world, deposited.deposit.address, 10_000_000n);
    const body = { executionPath: "on-chain-contract" };
    const routed = await seller.confirm((await checkout(world, third.id, body)).body.id);
    await routeOrder(world, routed);
    await until(async () => (await cyclesOf(id)).every((cycle) => cycle.state === "paid"), "all are paid");
    await until(async () => (await state()) === "active", "it has recovered");
    const payments = await seller.must("GET", `/v1/payments?subscriptionId=${id}`);
    const told = payments
      .map(({ paymentIntent }: Body) => [
        paymentIntent.metadata.cycleIndex,
        paymentIntent.executionPath,
        paymentIntent.source,
        paymentIntent.metadata.subscriptionId,
      ])
      .sort();
    expect(told).toEqual([
      ["0", "x402", "subscription", id],
      ["1", "deposit-match", "subscription", id],
      ["2", "on-chain-contract", "subscription", id],
    ]);
    const byAgent = payments.find(({ paymentIntent }: Body) => paymentIntent.executionPath === "x402");
    expect(await ledgerOf(world.database, byAgent.clearing.providerReference)).toContain(
      "pending net treasury → available 9950000",
    );
    for (const { clearing } of [deposited, routed])
      expect(await ledgerOf(world.database, clearing.id)).toContain(
        "pending net clearing → available 9950000",
      );
    await expectAtRest(world);
    expect(await seller.available()).toBe("29.850000");
    const events = await world.database.query<{ type: string }>(
      "SELECT type FROM outbox WHERE subject = $1 ORDER BY sequence",
      [id],
    );
    const [created, firstIssued, ...later] = events.map(({ type }) => type);
    expect([created, firstIssued, later.pop()]).toEqual([
      "subscription.created",
      "subscription.cycle_issued",
      "subscription.recovered",
    ]);
    // A loop issues cycles, another one sees what is late: which is first on a day is nobody's promise.
    expect(later.sort()).toEqual([
      "subscription.cycle_issued",
      "subscription.cycle_issued",
      "subscription.past_due",
    ]);
  });
});

describe("a listed invoice", () => {
  const index = async (): Promise<readonly Body[]> =>
    ((await (await fetch(`${world.baseUrl}/x402/payables?kind=invoice&limit=100`)).json()) as Body).items;
  const tool = async (name: string, args: object): Promise<string> => {
    const response = await fetch(`${world.baseUrl}/x402/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    return JSON.stringify(await response.json());
  };

  it("is found without its buyer, paid by an unmodified client, and gone when it is paid", async () => {
    const invoice = await issued(seller, { notes: "internal", metadata: { project: "moon" } });
    const isFound = async () => (await index()).some(({ id }) => id === invoice.id);
    expect(await isFound()).toBe(false);
    await seller.must("POST", `/v1/invoices/${invoice.id}/list`);
    const [item] = (await index()).filter(({ id }) => id === invoice.id);
    expect(item).toMatchObject({
      kind: "invoice",
      number: invoice.number,
      dueAt: invoice.dueAt,
      amount: { amount: "10.00", asset: "USD" },
      url: invoice.url,
      resource: `${world.baseUrl}/x402/payables/${invoice.id}`,
      merchant: { id: seller.id },
    });
    const found = await tool("search_payables", { query: invoice.number });
    expect(found).toContain(invoice.id);
    expect(JSON.stringify(item) + found).not.toMatch(/Ada|buyer\.example|PT123|Secreta|internal|moon/);
    const payer = await newPayer(world.dev, 10_000_000n);
    const { pay } = stockBuyer(payer, `eip155:${world.dev.anvil.chainId}`, {
      allowedAssets: [{ network: `eip155:${world.dev.anvil.chainId}`, asset: world.dev.usdc }],
      maxAmountPerPayment: false,
    });
    const response = await pay(item.resource);
    expect([response.status, await response.json()]).toMatchObject([200, { success: true }]);
    await until(async () => (await read(seller, invoice.id)).state === "paid", "it is paid");
    expect(await isFound()).toBe(false);
    const [credited] = await world.database.query<{ id: string }>(
      "SELECT id FROM claim WHERE payable_id = $1",
      [invoice.id],
    );
    expect(await ledgerOf(world.database, credited?.id ?? "")).toHaveLength(2);
  });

  it("taken off the index is not found, and payable by who holds its address", async () => {
    const invoice = await issued(seller);
    await seller.must("POST", `/v1/invoices/${invoice.id}/list`);
    await seller.must("POST", `/v1/invoices/${invoice.id}/unlist`);
    expect((await index()).some(({ id }) => id === invoice.id)).toBe(false);
    expect(await tool("search_payables", { query: invoice.number })).not.toContain(invoice.id);
    expect((await (await agentFor(world, invoice.id)).send()).body.success).toBe(true);
  });

  it("in a currency without a coin is asked of agents, and paid by a person, at a rate that is locked", async () => {
    const lines = [{ name: "One", unitPrice: { amount: "8", asset: "GBP" } }];
    const invoice = await issued(seller, { currency: "GBP", lines });
    await seller.must("POST", `/v1/invoices/${invoice.id}/list`);
    expect((await index()).some(({ id }) => id === invoice.id)).toBe(true);
    expect((await fetch(`${world.baseUrl}/x402/payables/${invoice.id}`)).status).toBe(402);
    const asked = await seller.confirm((await checkout(world, invoice.id)).body.id);
    await sendTo(world, asked.deposit.address, BigInt(asked.deposit.amount.amount.replace(".", "")));
    await until(async () => (await read(seller, invoice.id)).state === "paid", "it is paid");
    expect(await read(seller, invoice.id)).toMatchObject({ paid: { amount: "8.00", asset: "GBP" } });
    expect((await fetch(`${world.baseUrl}/x402/payables/${invoice.id}`)).status).toBe(410);
  });
});
