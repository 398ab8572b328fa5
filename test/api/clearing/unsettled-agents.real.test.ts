/** Agents' payments of intents that do not settle, or not at once. */
import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { agentFor, claimHook } from "../../support/agents.ts";
import { newKey } from "../../support/authorization.ts";
import { transferData } from "../../support/deposits.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, sendTo, sharedSeller, statesOf, statesToSettled } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { cancel, drain, expectAtRest, submitAsStranger, withMiningHeld } from "../../support/scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const hook = claimHook();
const world = sharedWorld({
  clock,
  // A slow machine follows late, and is waited for: what is asked here is who waits, not for how long.
  settings: { maxWaitMs: 3_000, toldWithinMs: 60_000 },
  checkpoint: hook.checkpoint,
});
const seller = sharedSeller(world);

describe("an agent's payment that does not settle", () => {
  it("fails an intent that has no other way; the same authorization, sent again once it can be, settles it", async () => {
    // made for a deposit, and confirmed for agents
    const { id } = await seller.intent();
    await seller.confirm(id, { executionPath: "x402" });
    const { send, payer, offer } = await agentFor(world, id);
    hook.beforeClaim = () => drain(world, payer, offer.amount);
    expect((await send()).body.success).toBe(false);
    hook.forget();
    const failed = await seller.reaches(id, "failed");
    expect(failed).toMatchObject({
      paymentIntent: { status: "failed", failureReason: "insufficient_funds" },
      clearing: { failure: { code: "insufficient_funds" } },
    });
    expect(await seller.retry(id)).toMatchObject({ status: 409, body: { code: "funds_not_received" } });
    await world.dev.administer("mint", [payer.address, offer.amount]);
    expect(await send()).toMatchObject({ body: { success: true } });
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject({ paymentIntent: { failureReason: null }, clearing: { failure: null } });
    expect(statesOf(paid).slice(-5)).toEqual(["failed", ...statesToSettled.slice(2)]);
  });

  /** The payer's own transfer is mined before what an agent's payment was sent with, which then moves nothing. */
  async function comesTooLate(
    id: string,
    { send, payer, offer }: Awaited<ReturnType<typeof agentFor>>,
    meanwhile = () => {},
  ) {
    await world.dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
    await withMiningHeld(world, async () => {
      const sent = send();
      await seller.reaches(id, "funds-detected");
      expect((await seller.read(id)).paymentIntent.executionPath).toBe("x402");
      meanwhile();
      // it pays more for its place
      const data = transferData(address(newKey().address), offer.amount);
      const fee = { maxFeePerGas: "0x174876e800", maxPriorityFeePerGas: "0x174876e800" };
      const spend = { from: payer.address, to: world.dev.usdc, data, gas: "0x30d40", ...fee };
      await world.dev.anvil.rpc("eth_sendTransaction", [spend]);
      await world.dev.anvil.mine();
      expect((await sent).body.success).toBe(false);
    });
  }

  it("leaves an intent that waits for a deposit to its deposit, at its own terms", async () => {
    const { id } = await seller.intent();
    const asked = await seller.confirm(id, { payment: { asset: "EURC" } });
    const { sourceAmount, settlementAmount, fee, netAmount, rate, providerReference } = asked.clearing;
    const agent = await agentFor(world, id);
    await comesTooLate(id, agent);
    await seller.reaches(id, "awaiting-funds");
    const waiting = await seller.read(id);
    expect(waiting).toMatchObject({
      paymentIntent: { status: "clearing", executionPath: "deposit-match" },
      clearing: { sourceAmount, settlementAmount, fee, netAmount, rate, providerReference },
      deposit: { address: asked.deposit.address },
    });
    expect(statesOf(waiting)).toEqual(["created", "awaiting-funds", "funds-detected", "awaiting-funds"]);
    // and who sends the deposit is the payer, not whoever signed what moved nothing
    await cancel(world, agent.payer, agent.signed.nonce);
    const { EURC } = world.dev.contracts.assets;
    const due = BigInt(sourceAmount.amount.replace(".", ""));
    const { payer } = await sendTo(world, asked.deposit.address, due, { token: EURC });
    await world.dev.anvil.mine(5);
    const paid = await seller.reaches(id, "settled");
    expect(address(paid.paymentIntent.payment.payerAddress)).toBe(payer.address);
  });

  it("makes nobody the payer but who is named; another agent who pays is", async () => {
    const named = newKey().address;
    for (const payerAddress of [undefined, named]) {
      const { id } = await seller.intent({ payment: { payerAddress } });
      const first = await agentFor(world, id);
      await comesTooLate(id, first);
      await cancel(world, first.payer, first.signed.nonce);
      await world.dev.anvil.mine(5);
      await until(async () => (await fetch(first.offer.url)).status === 402, "another one may pay it");
      const { send, payer } = await agentFor(world, id);
      expect((await send()).body.success).toBe(true);
      const { paymentIntent } = await seller.reaches(id, "settled");
      expect(address(paymentIntent.payment.payerAddress)).toBe(payerAddress ?? payer.address);
    }
  });

  it("keeps its intent from being cancelled as long as it may still be charged", async () => {
    const { id } = await seller.intent();
    const { payer, signed, ...agent } = await agentFor(world, id);
    await comesTooLate(id, { payer, signed, ...agent });
    await seller.reaches(id, "awaiting-funds");
    expect(await seller.cancel(id)).toMatchObject({ status: 409, body: { code: "intent_not_cancellable" } });
    await cancel(world, payer, signed.nonce);
    await world.dev.anvil.mine(5);
    await until(async () => (await seller.cancel(id)).status === 200, "it is cancelled");
    expect((await seller.read(id)).clearing.state).toBe("cancelled");
  });

  it("leaves one that was never confirmed to be confirmed in its time: 410 intent_expired after, though it is not swept", async () => {
    const [late, timely] = [await seller.intent({ expiresInSeconds: 900 }), await seller.intent()];
    for (const { id } of [late, timely]) {
      await comesTooLate(id, await agentFor(world, id));
      await seller.reaches(id, "awaiting-funds");
    }
    clock.forward(15 * MINUTE);
    const before = await seller.read(late.id);
    expect(before.paymentIntent).toMatchObject({ status: "clearing", expiresAt: late.expiresAt });
    for (const body of [undefined, { executionPath: "x402" }])
      expect(await seller.ask("POST", `/v1/payment-intents/${late.id}/confirm`, body)).toMatchObject({
        status: 410,
        body: { code: "intent_expired" },
      });
    const form = new URLSearchParams({ chain: "local", asset: "USDC", executionPath: "deposit-match" });
    const page = `${world.baseUrl}/checkout/${late.id}`;
    const chosen = await fetch(`${page}/confirm`, { method: "POST", body: form, redirect: "manual" });
    expect(chosen.headers.get("location")).toBe(`/checkout/${late.id}?problem=intent_expired`);
    expect(await seller.read(late.id)).toEqual(before);
    expect(await seller.confirm(timely.id)).toMatchObject({
      paymentIntent: { status: "clearing", executionPath: "deposit-match" },
      clearing: { state: "awaiting-funds" },
      deposit: { amount: { amount: "10.000000", asset: "USDC" } },
    });
  });

  it("keeps a deposit that came after the window from being taken for it as long as it may still be charged", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const paying = await agentFor(world, id);
    await comesTooLate(id, paying, () => clock.forward(32 * MINUTE));
    expect((await seller.reaches(id, "failed")).paymentIntent.executionPath).toBe("deposit-match");
    await sendTo(world, asked.deposit.address, 10_000_000n);
    const booked = ["single clearing deposit → clearing 10000000"];
    const rows = () => ledgerOf(world.database, asked.clearing.id);
    await until(async () => (await rows()).length > 0, "the deposit is booked");
    // when its merchant would have it taken
    expect(await seller.retry(id)).toMatchObject({
      status: 409,
      body: { code: "agent_payment_under_way", detail: expect.stringContaining("stl_") },
    });
    expect((await seller.read(id)).clearing.state).toBe("failed");
    // then whoever charges the agent's authorization pays it, and the deposit is the payer's
    await world.dev.administer("mint", [paying.payer.address, paying.offer.amount]);
    await submitAsStranger(world, paying.signed.call);
    expect((await seller.reaches(id, "settled")).deposit.reviewRequired).toBe(true);
    expect(await rows()).toEqual(booked);
    const returned = await seller.review(id, { action: "return", destination: paying.payer.address });
    expect(returned).toMatchObject({ status: 200, body: { clearing: { state: "settled" } } });
    await expectAtRest(world);
  });

  /** An intent asked for by deposit too, whose agent had no money left when its payment was claimed. */
  async function mayStillBeCharged() {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const agent = await agentFor(world, id);
    hook.beforeClaim = () => drain(world, agent.payer, agent.offer.amount);
    expect((await agent.send()).body.success).toBe(false);
    hook.forget();
    return { ...agent, asked, id };
  }

  it("is not hidden by money that came astray and was given back, when it is charged after all", async () => {
    const { asked, id, payer, offer, signed } = await mayStillBeCharged();
    const { EURC } = world.dev.contracts.assets;
    const { payer: other } = await sendTo(world, asked.deposit.address, 9_000_000n, { token: EURC });
    await seller.reaches(id, "in-review");
    const returned = await seller.review(id, { action: "return", destination: other.address });
    expect(returned.status).toBe(200);
    await world.dev.administer("mint", [payer.address, offer.amount]);
    await submitAsStranger(world, signed.call);
    const paid = await seller.reaches(id, "settled");
    expect(paid.paymentIntent.status).toBe("completed");
    expect(await ledgerOf(world.database, paid.clearing.providerReference)).not.toEqual([]);
    await until(async () => {
      await world.dev.anvil.mine();
      return (await world.dev.chain.tokenBalance(address(EURC), other.address, "latest")) === 9_000_000n;
    }, "what came astray is back");
    await expectAtRest(world);
  });

  it("leaves a payment whose stray money was given back to its window, once it can be charged no more", async () => {
    const { asked, id, payer, signed } = await mayStillBeCharged();
    const { EURC } = world.dev.contracts.assets;
    const { payer: other } = await sendTo(world, asked.deposit.address, 9_000_000n, { token: EURC });
    await seller.reaches(id, "in-review");
    expect((await seller.review(id, { action: "return", destination: other.address })).status).toBe(200);
    await cancel(world, payer, signed.nonce);
    await world.dev.anvil.mine(5);
    expect(await seller.reaches(id, "awaiting-funds")).toMatchObject({
      paymentIntent: { status: "clearing" },
      clearing: { failure: null },
      deposit: { address: asked.deposit.address },
    });
    await expectAtRest(world);
  });

  it("keeps what came astray from being accepted as long as it may still be charged", async () => {
    const { asked, id, payer, offer, signed } = await mayStillBeCharged();
    await sendTo(world, asked.deposit.address, 9_000_000n, { token: world.dev.contracts.assets.EURC });
    await seller.reaches(id, "in-review");
    await world.dev.anvil.mine(3);
    // when its merchant would take the other token
    let told = await seller.review(id, { action: "accept" });
    await until(async () => {
      if (told.body.code === "funds_not_final") told = await seller.review(id, { action: "accept" });
      return told.body.code !== "funds_not_final";
    }, "it is final");
    expect(told).toMatchObject({
      status: 409,
      body: { code: "agent_payment_under_way", detail: expect.stringContaining("stl_") },
    });
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 9000000",
    ]);
    // then whoever charges the agent's authorization pays it, and the other token goes back
    await world.dev.administer("mint", [payer.address, offer.amount]);
    await submitAsStranger(world, signed.call);
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject({
      paymentIntent: { executionPath: "x402", settlementAsset: "USDC" },
      deposit: { reviewRequired: true },
    });
    expect(await ledgerOf(world.database, asked.clearing.id)).toHaveLength(1);
    const returned = await seller.review(id, { action: "return", destination: payer.address });
    expect(returned).toMatchObject({ status: 200, body: { clearing: { state: "settled" } } });
    await expectAtRest(world);
  });
});
