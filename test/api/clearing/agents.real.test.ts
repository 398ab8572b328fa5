/** Payments by agents: of intents at their agent URL, and of resources. */
import { afterEach, describe, expect, it } from "vitest";
import { agentFor, claimHook } from "../../support/agents.ts";
import { beforeRead, chainFaults } from "../../support/chain-faults.ts";
import { sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  isIntentAwaited,
  movableClock,
  newSeller,
  sendTo,
  sharedSeller,
  statesOf,
  statesToSettled,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { cancel, expectAtRest, newPayment } from "../../support/scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const faults = chainFaults();
const hook = claimHook();
const world = sharedWorld({
  clock,
  wrapChain: faults.wrap,
  // A slow machine follows late, and is waited for: what is asked here is who waits, not for how long.
  settings: { maxWaitMs: 3_000, toldWithinMs: 60_000 },
  checkpoint: hook.checkpoint,
});
const seller = sharedSeller(world);
afterEach(faults.clear);

async function expectReceiptAt(receiptUrl: string): Promise<void> {
  const { status, headers } = await fetch(receiptUrl);
  expect([status, headers.get("content-type")]).toEqual([200, "application/pdf"]);
}

describe("who reads next", () => {
  it("sees an intent completed, and an invoice paid, as soon as the agent is told success", async () => {
    for (let i = 0; i < 5; i += 1) {
      const { id } = await seller.intent();
      expect((await (await agentFor(world, id)).send()).body).toMatchObject({ success: true });
      const { paymentIntent, clearing } = await seller.read(id);
      expect([paymentIntent.status, clearing.state]).toEqual(["completed", "settled"]);
      const invoice = await seller.must("POST", "/v1/invoices", {
        ...{ buyer: { name: "Ada" }, currency: "USD", daysUntilDue: 7, issue: true },
        lines: [{ name: "Tea", unitPrice: { amount: "1.00", asset: "USD" } }],
      });
      expect((await (await agentFor(world, invoice.id)).send()).body).toMatchObject({ success: true });
      expect((await seller.must("GET", `/v1/invoices/${invoice.id}`)).state).toBe("paid");
    }
  });
});

describe("the receipt's page of an intent", () => {
  it("is named by the agent URL, in the receipt and in the header, and again when the answer is replayed", async () => {
    const { id } = await seller.intent();
    const receiptUrl = `${world.baseUrl}/checkout/${id}/receipt.pdf`;
    const { header, offer } = await agentFor(world, id);
    const headers = { "PAYMENT-SIGNATURE": header, "Idempotency-Key": `receipt of ${id}` };
    for (const replayed of [undefined, true]) {
      const response = await fetch(offer.url, { method: "POST", headers });
      expect(await response.json()).toMatchObject({ success: true, receiptUrl });
      const told = JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE") ?? ""));
      expect(told.extra).toMatchObject({ receiptUrl, ...(replayed && { replayed }) });
    }
    await expectReceiptAt(receiptUrl);
    // and whoever comes without the key is told nothing of it
    const again = await fetch(offer.url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
    expect([again.status, JSON.stringify(await again.json())]).toEqual([
      409,
      expect.not.stringContaining("receipt.pdf"),
    ]);
  });

  it("is named by settle on the base for all", async () => {
    const { id } = await seller.intent();
    const { body } = await agentFor(world, id);
    const response = await fetch(`${world.baseUrl}/x402/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { success, extra } = (await response.json()) as { success: boolean; extra: { receiptUrl: string } };
    expect([success, extra.receiptUrl]).toEqual([true, `${world.baseUrl}/checkout/${id}/receipt.pdf`]);
    await expectReceiptAt(extra.receiptUrl);
  });
});

describe("POST /x402/payables/{id} of an intent", () => {
  it("pays one that was never confirmed: clearing, timeline, facts and rows as for people", async () => {
    const { id } = await seller.intent();
    const { send, payer } = await agentFor(world, id);
    expect(await send()).toMatchObject({ status: 200, body: { success: true } });
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject({
      paymentIntent: {
        status: "completed",
        executionPath: "x402",
        settlementAsset: "USDC",
        payment: { asset: "USDC", chain: "local" },
      },
      clearing: {
        providerReference: expect.stringMatching(/^stl_/),
        transactionHash: expect.stringMatching(/^0x/),
        settlementAmount: { amount: "10.000000" },
        fee: { amount: "0.050000" },
        netAmount: { amount: "9.950000" },
        rate: { from: "USD", to: "USDC", source: "parity", scaledRate: "1000000000000000000" },
      },
      deposit: { uri: null, received: { amount: "10.000000" }, deposits: [{ status: "credited" }] },
    });
    expect(paid.paymentIntent.payment.payerAddress.toLowerCase()).toBe(payer.address);
    expect(statesOf(paid)).toEqual(statesToSettled);
    expect(await toldOf(world.database, id, paid.clearing.id)).toEqual([
      "payment.created",
      "payment.clearing",
      "payment.funds_detected",
      "payment.funds_received",
      "payment.completed",
    ]);
    // the facilitator has posted it; the clearing posts nothing
    expect(await ledgerOf(world.database, paid.clearing.id)).toEqual([]);
    expect(await ledgerOf(world.database, paid.clearing.providerReference)).toEqual([
      "pending net treasury → available 9950000",
      "pending fee treasury → fees 50000",
    ]);
    const gone = await fetch(`${world.baseUrl}/x402/payables/${id}`);
    expect([gone.status, await gone.json()]).toMatchObject([410, { state: "paid" }]);
    await expectAtRest(world);
    expect((await seller.read(id)).clearing.state).toBe("settled");
  });

  it("pays one that waits for a deposit; money that then comes to its order is nobody's", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const { send } = await agentFor(world, id);
    expect(await send()).toMatchObject({ status: 200, body: { success: true } });
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject({
      paymentIntent: { executionPath: "x402" },
      clearing: { id: asked.clearing.id, providerReference: expect.stringMatching(/^stl_/) },
    });
    expect(statesOf(paid)).toEqual(statesToSettled);
    await sendTo(world, asked.deposit.address, 10_000_000n);
    await until(
      async () => (await ledgerOf(world.database, asked.clearing.id)).length > 0,
      "the deposit is booked",
    );
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 10000000",
    ]);
    expect(await seller.must("GET", "/v1/payments?reviewRequired=true")).toMatchObject([
      { paymentIntent: { id } },
    ]);
  });

  it("is closed to agents once a deposit was seen", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    await sendTo(world, asked.deposit.address, 1_000_000n);
    await seller.reaches(id, "funds-detected");
    const visit = await fetch(`${world.baseUrl}/x402/payables/${id}`);
    expect([visit.status, await visit.json()]).toMatchObject([409, { code: "payment_pending" }]);
  });

  it("is refused an agent whose payment was found good a moment before a deposit was seen", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const { send, signed } = await agentFor(world, id);
    let isFirst = true;
    faults.set({
      readAuthorizations:
        (real) =>
        async (...read) => {
          // of this agent, and not of one before who is still looked after
          if (isFirst && read[1].some(({ nonce }) => nonce === signed.nonce)) {
            isFirst = false;
            await sendTo(world, asked.deposit.address, 10_000_000n);
            await until(
              async () => (await seller.read(id)).clearing.state !== "awaiting-funds",
              "it is seen",
            );
          }
          return real.readAuthorizations(...read);
        },
    });
    expect((await send()).body.success).not.toBe(true);
    const paid = await seller.reaches(id, "settled");
    expect(paid.paymentIntent.executionPath).toBe("deposit-match");
    expect(await world.database.query("SELECT 1 FROM claim WHERE payable_id = $1", [id])).toEqual([]);
  });

  it("in a currency without a coin: at the rate that was locked for it", async () => {
    const { id } = await seller.intent({ amount: { amount: "8", asset: "GBP" } });
    const { send, offer } = await agentFor(world, id);
    expect(await send()).toMatchObject({ body: { success: true } });
    const paid = await seller.reaches(id, "settled");
    expect(paid.clearing.rate).toMatchObject({ from: "GBP", to: "USDC", source: "fixed" });
    expect(BigInt(paid.clearing.sourceAmount.amount.replace(".", ""))).toBe(offer.amount);
  });

  it("at its own rate, though a confirm offered it in another token while the payment was on its way", async () => {
    const { id } = await seller.intent({ amount: { amount: "8", asset: "GBP" } });
    const { send, offer } = await agentFor(world, id);
    beforeRead(faults, async () => {
      await seller.confirm(id, { payment: { asset: "EURC" } });
    });
    expect(await send()).toMatchObject({ body: { success: true } });
    const paid = await seller.reaches(id, "settled");
    const { rate, sourceAmount } = paid.clearing;
    expect([rate.from, rate.to, sourceAmount.asset]).toEqual(["GBP", "USDC", "USDC"]);
    // 8 pounds at this rate are what was paid
    expect((8n * BigInt(rate.scaledRate)) / 10n ** 12n).toBe(offer.amount);
  });

  it("is not cancelled while an authorization that came meanwhile may still be charged", async () => {
    const { id } = await seller.intent();
    const invoice = await seller.must("POST", "/v1/invoices", {
      ...{ buyer: { name: "Ada" }, currency: "USD", daysUntilDue: 7, issue: true },
      lines: [{ name: "Tea", unitPrice: { amount: "1.00", asset: "USD" } }],
    });
    const checkout = await seller.must("POST", `/v1/invoices/${invoice.id}/checkout`, {});
    for (const each of [id, checkout.id]) {
      const { send } = await agentFor(world, each);
      const [cancelled, answer] = await heldBack(
        world,
        { merchantId: seller.id, id: each },
        async (letGo) => {
          // given a cancel that has seen no payment, and waits for its turn
          const cancelling = seller.cancel(each);
          await until(() => isIntentAwaited(world), "the cancel waits for its turn");
          // when an agent's payment is claimed meanwhile
          const sent = send();
          const claims = () => world.database.query("SELECT 1 FROM claim WHERE payable_id = $1", [each]);
          await until(async () => (await claims()).length === 1, "it is claimed");
          letGo();
          return Promise.all([cancelling, sent]);
        },
      );
      // then it is not cancelled, and is paid
      expect(cancelled).toMatchObject({ status: 409, body: { code: "intent_not_cancellable" } });
      expect(answer.body).toMatchObject({ success: true });
      expect((await seller.reaches(each, "settled")).paymentIntent.status).toBe("completed");
    }
  });

  it("asked for by confirm: waits for its agent, and ends with its window", async () => {
    const asked = await seller.asked({ executionPath: "x402" });
    const { id } = asked.paymentIntent;
    expect(asked).toMatchObject({
      paymentIntent: { executionPath: "x402" },
      clearing: { state: "awaiting-funds", providerReference: null },
      deposit: null,
    });
    const { send } = await agentFor(world, id);
    expect(await send()).toMatchObject({ body: { success: true } });
    expect(statesOf(await seller.reaches(id, "settled"))).toEqual(statesToSettled);
    const other = await seller.asked({ executionPath: "x402" });
    clock.forward(62 * MINUTE);
    expect((await seller.reaches(other.paymentIntent.id, "expired")).clearing.failure.code).toBe(
      "order_expired",
    );
  });
});

/** What its merchant is told of a sale; in place where it stands with the fact that it was paid. */
const eventsOf = (clearing: { readonly id: string; readonly providerReference: string }) =>
  world.database.query<{ type: string; data: object; is_in_place: boolean }>(
    `SELECT event.type, event.data, event.sequence = outbox.sequence AS is_in_place FROM event
       JOIN outbox ON outbox.subject = $2 AND outbox.type = 'settlement.credited' WHERE event.subject = $1`,
    [clearing.id, clearing.providerReference],
  );

describe("a payment of a resource", () => {
  it("is a payment like any other: intent and clearing in one, six steps, one event", async () => {
    const { settle, resource } = await newPayment(world, seller);
    expect(await settle()).toMatchObject({ body: { success: true } });
    const list = () => seller.must("GET", "/v1/payments?source=x402&limit=1");
    await until(
      async () => (await list())[0]?.paymentIntent.metadata.resourceId === resource.id,
      "it is there",
    );
    const [{ paymentIntent, clearing }] = await list();
    expect(paymentIntent).toMatchObject({
      status: "completed",
      source: "x402",
      executionPath: "x402",
      amount: { amount: "0.010000", asset: "USDC" },
      settlementAsset: "USDC",
      payment: { asset: "USDC", chain: "local" },
      clearingTransactionId: clearing.id,
    });
    expect(clearing).toMatchObject({
      state: "settled",
      settlementAmount: { amount: "0.010000" },
      fee: { amount: "0.000050" },
      netAmount: { amount: "0.009950" },
      rate: { from: "USDC", to: "USDC", source: "identity" },
    });
    const whole = await seller.read(paymentIntent.id);
    expect(statesOf(whole)).toEqual(statesToSettled);
    expect(whole.deposit).toMatchObject({
      received: { amount: "0.010000" },
      deposits: [{ status: "credited" }],
    });
    // as its endpoints answer it, but for what comes later: another block, a refund
    const { timeline: _, amountRefunded: __, ...object } = whole;
    for (const deposit of object.deposit.deposits) deposit.confirmations = expect.any(Number);
    expect(await eventsOf(clearing)).toEqual([
      { type: "payment.completed", data: { object, previous: null }, is_in_place: true },
    ]);
    expect(await toldOf(world.database, clearing.id)).toEqual([]);
    expect(await ledgerOf(world.database, clearing.id)).toEqual([]);
    // told again, it is not written again
    await world.database.query("UPDATE outbox SET delivered_at = NULL WHERE subject = $1", [
      clearing.providerReference,
    ]);
    await until(async () => {
      const rows = await world.database.query("SELECT 1 FROM outbox WHERE delivered_at IS NULL");
      return rows.length === 0;
    }, "all is told");
    const [{ count } = { count: "" }] = await world.database.query<{ count: string }>(
      "SELECT count(*) FROM clearing WHERE provider_reference = $1",
      [clearing.providerReference],
    );
    expect(count).toBe("1");
    expect(await eventsOf(clearing)).toHaveLength(1);
  });

  it("cancelled by its payer is a failed one", async () => {
    const { settle, resource, payer, nonce } = await newPayment(world, seller);
    hook.beforeClaim = () => cancel(world, payer, nonce);
    expect((await settle()).body.success).toBe(false);
    const found = async () =>
      (await seller.must("GET", "/v1/payments?source=x402")).find(
        ({ paymentIntent }: { paymentIntent: { metadata: { resourceId: string } } }) =>
          paymentIntent.metadata.resourceId === resource.id,
      );
    await until(async () => {
      await world.dev.anvil.mine();
      return (await found())?.clearing.state === "failed";
    }, "it has failed");
    const { paymentIntent, clearing } = await found();
    expect(paymentIntent).toMatchObject({ status: "failed", completedAt: null });
    expect(clearing.failure.code).toBe(paymentIntent.failureReason);
    expect(
      await world.database.query("SELECT type, data FROM event WHERE subject = $1", [clearing.id]),
    ).toEqual([
      {
        type: "payment.failed",
        data: { object: expect.objectContaining({ paymentIntent, clearing }), previous: null },
      },
    ]);
    expect(await ledgerOf(world.database, clearing.providerReference)).toEqual([]);
  });

  it("40 at once: each is written once, and the books say the same as the list", async () => {
    const many = await newSeller(world);
    const resource = await many.register();
    const payments = [];
    for (let i = 0; i < 40; i += 1) payments.push(await newPayment(world, many, { resource }));
    await Promise.all(payments.map(({ settle }) => settle()));
    const list = () => many.must("GET", "/v1/payments?status=completed&limit=200");
    await until(async () => (await list()).length === 40, "all are there");
    await expectAtRest(world);
    expect(await many.available()).toBe("0.398000");
  });
});
