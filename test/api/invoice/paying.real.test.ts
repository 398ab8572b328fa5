/** Who pays an invoice, by which road, and what becomes of two who pay at once. */
import { afterEach, describe, expect, it } from "vitest";
import { agentFor, claimHook, offerOf } from "../../support/agents.ts";
import { beforeRead, chainFaults } from "../../support/chain-faults.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, routeOrder, sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { type Body, becomes, checkout, deposit, draft, factsOf, issued, read } from "./bills.ts";

const clock = movableClock();
const faults = chainFaults();
const hook = claimHook();
const world = sharedWorld({
  clock,
  wrapChain: faults.wrap,
  settings: { maxWaitMs: 3_000 },
  checkpoint: hook.checkpoint,
});
const seller = sharedSeller(world);
afterEach(faults.clear);

const paymentsOf = async (id: string): Promise<readonly Body[]> => {
  const rows = await world.database.query<{ id: string }>(
    "SELECT id FROM payment_intent WHERE metadata->>'invoiceId' = $1 ORDER BY id",
    [id],
  );
  return Promise.all(rows.map((row) => seller.read(row.id)));
};
describe("one payer", () => {
  it("an agent, at the invoice's own URL: credited once, recorded as its payment", async () => {
    const invoice = await issued(seller);
    const offer = await offerOf(world, invoice.id);
    expect(offer.amount).toBe(10_000_000n);
    const { send } = await agentFor(world, invoice.id);
    expect(await send()).toMatchObject({
      status: 200,
      body: { success: true, payable: { kind: "invoice" } },
    });
    expect(await becomes(seller, invoice.id, "paid")).toMatchObject({
      status: "paid",
      paid: { amount: "10.00" },
      outstanding: { amount: "0.00" },
    });
    const [payment, ...others] = await paymentsOf(invoice.id);
    expect(others).toEqual([]);
    expect(payment).toMatchObject({
      paymentIntent: {
        status: "completed",
        source: "invoice",
        executionPath: "x402",
        amount: { amount: "10.00", asset: "USD" },
        merchantReference: invoice.number,
        metadata: { invoiceId: invoice.id },
      },
      clearing: { state: "settled" },
    });
    expect(await ledgerOf(world.database, payment.clearing.providerReference)).toEqual([
      "pending net treasury → available 9950000",
      "pending fee treasury → fees 50000",
    ]);
    expect(await factsOf(world, invoice.id)).toEqual(["invoice.created", "invoice.issued", "invoice.paid"]);
    const gone = await fetch(`${world.baseUrl}/x402/payables/${invoice.id}`);
    expect([gone.status, await gone.json()]).toMatchObject([410, { state: "paid" }]);
    await expectAtRest(world);
  });

  it("an agent who was sent the address of its page, which is a page for everybody else", async () => {
    const { id, url } = await issued(seller);
    for (const accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"]) {
      const page = await fetch(url, { headers: { accept } });
      expect([page.status, page.headers.has("PAYMENT-REQUIRED")]).toEqual([200, false]);
      expect(page.headers.get("Link")).toContain(`/x402/payables/${id}>`);
    }
    const visit = await fetch(url, {
      headers: { accept: "application/json", origin: "https://agent.example" },
    });
    expect([visit.status, visit.headers.get("Access-Control-Allow-Origin")]).toEqual([402, "*"]);
    const { header } = await agentFor(world, id);
    for (const status of [200, 409]) {
      const paid = await fetch(url, { headers: { "PAYMENT-SIGNATURE": header } });
      expect([paid.status, await paid.json()]).toMatchObject([status, { success: status === 200 }]);
    }
    await becomes(seller, id, "paid");
    expect(await paymentsOf(id)).toHaveLength(1);
    await expectAtRest(world);
  });

  it("a person, by deposit; and while the money comes nobody else is asked", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    expect(asked.paymentIntent).toMatchObject({ source: "invoice", metadata: { invoiceId: invoice.id } });
    await sendTo(world, asked.deposit.address, 4_000_000n);
    await seller.reaches(asked.paymentIntent.id, "funds-detected");
    const visit = await fetch(`${world.baseUrl}/x402/payables/${invoice.id}`);
    expect([visit.status, await visit.json()]).toMatchObject([409, { code: "payment_pending" }]);
    await sendTo(world, asked.deposit.address, 6_000_000n);
    await becomes(seller, invoice.id, "paid");
    expect(await ledgerOf(world.database, asked.clearing.id)).toContain(
      "pending net clearing → available 9950000",
    );
  });

  it("a person, through the router, also once it was given up", async () => {
    const invoice = await issued(seller);
    await seller.must("POST", `/v1/invoices/${invoice.id}/mark-uncollectible`);
    const asked = await deposit(world, seller, invoice.id, { executionPath: "on-chain-contract" });
    await routeOrder(world, asked);
    await becomes(seller, invoice.id, "paid");
    expect((await paymentsOf(invoice.id))[0].paymentIntent.executionPath).toBe("on-chain-contract");
  });
});

describe("two payers at once", () => {
  it("two agents: one pays, the other is refused before his money moves", async () => {
    const invoice = await issued(seller);
    const agents = [await agentFor(world, invoice.id), await agentFor(world, invoice.id)];
    const answers = await Promise.all(agents.map(({ send }) => send()));
    expect(answers.filter(({ body }) => body.success === true)).toHaveLength(1);
    await becomes(seller, invoice.id, "paid");
    const left = await Promise.all(
      agents.map(({ payer }) => world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")),
    );
    expect([...left].sort()).toEqual([0n, 10_000_000n]);
    expect(await paymentsOf(invoice.id)).toHaveLength(1);
  });

  it("an agent by the invoice's URL and one by the URL of an intent for it", async () => {
    const invoice = await issued(seller);
    const { body: intent } = await checkout(world, invoice.id, { executionPath: "x402" });
    const agents = [await agentFor(world, invoice.id), await agentFor(world, intent.id)];
    const answers = await Promise.all(agents.map(({ send }) => send()));
    expect(answers.filter(({ body }) => body.success === true)).toHaveLength(1);
    await becomes(seller, invoice.id, "paid");
    const claims = await world.database.query("SELECT state FROM claim WHERE payable_id = ANY($1)", [
      [invoice.id, intent.id],
    ]);
    expect(claims).toHaveLength(1);
  });

  it("a deposit that comes after an agent has paid waits for a person", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    const { id } = asked.paymentIntent;
    const { send } = await agentFor(world, invoice.id);
    expect(await send()).toMatchObject({ body: { success: true } });
    // the order of the intent was on its way to its payer: he sends all the same
    await sendTo(world, asked.deposit.address, 10_000_000n);
    await until(async () => (await seller.read(id)).clearing.state === "in-review", "the second money waits");
    await becomes(seller, invoice.id, "paid");
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 10000000",
    ]);
    expect(
      await seller.review(id, { action: "return", destination: `0x${"00".repeat(19)}cc` }),
    ).toMatchObject({
      status: 200,
      body: { clearing: { state: "returned" } },
    });
    expect(await read(seller, invoice.id)).toMatchObject({ state: "paid", paid: { amount: "10.00" } });
  });

  it("an agent who was found good a moment before a deposit was seen is refused at his claim", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    const { send, payer } = await agentFor(world, invoice.id);
    beforeRead(faults, async () => {
      await sendTo(world, asked.deposit.address, 10_000_000n);
      await until(
        async () => (await seller.read(asked.paymentIntent.id)).clearing.state !== "awaiting-funds",
        "it is seen",
      );
    });
    expect((await send()).body.success).not.toBe(true);
    await becomes(seller, invoice.id, "paid");
    expect(await world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")).toBe(10_000_000n);
    expect(await world.database.query("SELECT 1 FROM claim WHERE payable_id = $1", [invoice.id])).toEqual([]);
  });

  it("two deposits to two intents: one counts, the other waits for a person", async () => {
    const invoice = await issued(seller);
    const usdc = await deposit(world, seller, invoice.id, { payment: { chain: "local", asset: "USDC" } });
    const routed = await deposit(world, seller, invoice.id, { executionPath: "on-chain-contract" });
    expect(routed.paymentIntent.id).not.toBe(usdc.paymentIntent.id);
    await Promise.all([sendTo(world, usdc.deposit.address, 10_000_000n), routeOrder(world, routed)]);
    await becomes(seller, invoice.id, "paid");
    const states = async () => (await paymentsOf(invoice.id)).map(({ clearing }) => clearing.state).sort();
    await until(async () => (await states()).join() === "in-review,settled", "one counts, one waits");
    expect(await read(seller, invoice.id)).toMatchObject({ paid: { amount: "10.00" } });
    await expectAtRest(world);
  });

  it("what was detected calls the other intents off, and nobody else is asked", async () => {
    const invoice = await issued(seller);
    const first = await deposit(world, seller, invoice.id);
    const second = await deposit(world, seller, invoice.id, { executionPath: "on-chain-contract" });
    await sendTo(world, first.deposit.address, 1_000_000n);
    await seller.reaches(first.paymentIntent.id, "funds-detected");
    await seller.reaches(second.paymentIntent.id, "cancelled");
    const again = await checkout(world, invoice.id, { executionPath: "x402" });
    expect([again.status, again.body.code]).toEqual([409, "invoice_payment_in_progress"]);
  });
});

describe("dust, which anybody can send", () => {
  const dusted = async (position: Body) => {
    await sendTo(world, position.deposit.address, 1n);
    await until(
      async () => (await seller.read(position.paymentIntent.id)).deposit.deposits[0]?.status === "ignored",
      "it is ignored",
    );
  };

  it("to another intent calls nobody's off", async () => {
    const invoice = await issued(seller);
    const first = await deposit(world, seller, invoice.id);
    const second = await deposit(world, seller, invoice.id, { executionPath: "on-chain-contract" });
    await dusted(first);
    await routeOrder(world, second);
    await becomes(seller, invoice.id, "paid");
    const paid = await seller.reaches(second.paymentIntent.id, "settled");
    expect(paid.deposit.reviewRequired).toBe(false);
    expect((await ledgerOf(world.database, second.clearing.id)).slice(1)).toEqual([
      "pending net clearing → available 9950000",
      "pending fee clearing → fees 50000",
    ]);
    await seller.reaches(first.paymentIntent.id, "cancelled");
    expect(await ledgerOf(world.database, first.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 1",
    ]);
    await expectAtRest(world);
  });

  it("holds up no void", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    await dusted(asked);
    expect(await seller.must("POST", `/v1/invoices/${invoice.id}/void`)).toMatchObject({ state: "void" });
    expect((await seller.read(asked.paymentIntent.id)).clearing.state).toBe("cancelled");
  });
});

describe("afterwards", () => {
  it("a refund lowers what is paid, and the invoice stays paid", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    await sendTo(world, asked.deposit.address, 10_000_000n);
    await becomes(seller, invoice.id, "paid");
    await seller.must("POST", `/v1/payments/${asked.paymentIntent.id}/refunds`, {
      amount: { amount: "4.00", asset: "USD" },
    });
    await until(async () => (await read(seller, invoice.id)).paid.amount === "6.00", "the refund counts");
    expect(await read(seller, invoice.id)).toMatchObject({ state: "paid", outstanding: { amount: "0.00" } });
  });

  it("told again, nothing is done again", async () => {
    const invoice = await issued(seller);
    const { send } = await agentFor(world, invoice.id);
    await send();
    const paid = await becomes(seller, invoice.id, "paid");
    await world.database.query(
      "UPDATE outbox SET delivered_at = NULL WHERE merchant_id = $1 AND type LIKE 'payment.%'",
      [seller.id],
    );
    await until(async () => {
      const rows = await world.database.query(
        "SELECT 1 FROM outbox WHERE delivered_at IS NULL UNION ALL SELECT 1 FROM invoice_news",
      );
      return rows.length === 0;
    }, "all is told");
    expect(await read(seller, invoice.id)).toEqual(paid);
  });

  it("the same checkout gives the intent that waits, without its buyer; a draft and a stranger's id are not found", async () => {
    const invoice = await issued(seller, { metadata: { secret: "margin 40 %" } });
    const [first, again] = [await checkout(world, invoice.id, {}, "one"), await checkout(world, invoice.id)];
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect(await checkout(world, invoice.id, {}, "one")).toEqual(first);
    expect(first.body).toMatchObject({ customer: null, metadata: { invoiceId: invoice.id } });
    expect(JSON.stringify(first.body)).not.toMatch(/Ada|buyer\.example|margin/);
    expect((await seller.read(first.body.id)).paymentIntent).toMatchObject({
      customer: { email: "ada@buyer.example" },
      metadata: { secret: "margin 40 %" },
    });
    // another rail, or another amount, is another intent
    const on = (asset?: string) => checkout(world, invoice.id, { payment: { chain: "local", asset } });
    const others = [await on(), await on("USDC"), await on("USDG")];
    expect(new Set([first, ...others].map(({ body }) => body.id)).size).toBe(4);
    await world.database.query("UPDATE invoice SET collected = 400, paid = 400 WHERE id = $1", [invoice.id]);
    const rest = await checkout(world, invoice.id);
    expect(rest).toMatchObject({ status: 201, body: { amount: { amount: "6.00" } } });
    const unissued = await seller.must("POST", "/v1/invoices", draft());
    expect((await checkout(world, unissued.id)).status).toBe(404);
    expect((await checkout(world, "inv_00000000000000000000000000")).status).toBe(404);
    expect((await checkout(world, invoice.id, {}, "")).body.code).toBe("idempotency_key_invalid");
    expect((await checkout(world, invoice.id, { payment: { chain: "nowhere" } })).body.code).toBe(
      "rail_unsupported",
    );
  });
});
