/** What a stranger does on the chain, before, between and after our own steps; and money nobody asked for. */
import { afterEach, describe, expect, it } from "vitest";
import { authorize, devDomain } from "../support/authorization.ts";
import { chainFaults, holdDispatch } from "../support/chain-faults.ts";
import { books, newPayer, post, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { claimOf, factsOf, ledgerOf, stateOf, transactionsSent } from "../support/records.ts";
import {
  claimedAndHeld,
  drain,
  expectAtRest,
  newPayment,
  statusOf,
  submitAsStranger,
  transfer,
} from "../support/scene.ts";

const faults = chainFaults();

const world = sharedWorld({
  wrapChain: faults.wrap,
  settings: { maxWaitMs: 6_000 },
});
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const payment = (terms = {}) => newPayment(world, merchant, { terms });

describe("a stranger who submits the authorization", () => {
  it("before the settle: the merchant is credited with the stranger's transaction, and we send nothing", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    const strangers = await submitAsStranger(world, paid.signed.call);
    const settled = await paid.settle();
    expect(settled).toMatchObject({
      status: 200,
      body: { success: true, transaction: strangers, extra: { settledBy: "third-party" } },
    });
    expect(await paid.settle()).toMatchObject({ status: 409, body: { transaction: strangers } });
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before);
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({
      state: "final",
      included_tx: strangers,
      settled_by: "third-party",
      attempts: 0,
    });
  });

  it("between claim and dispatch: the same, and the caller who waits is told", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    const dispatch = holdDispatch(faults);
    const settling = paid.settle();
    await claimedAndHeld(world, paid, dispatch);
    const strangers = await submitAsStranger(world, paid.signed.call);
    expect(await settling).toMatchObject({
      status: 200,
      body: { success: true, transaction: strangers, extra: { settledBy: "third-party" } },
    });
    dispatch.letGo();
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before);
    expect(await ledgerOf(world.database, (await claimOf(world.database, paid.nonce))?.id ?? "")).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  });

  it("long before the settle: what was booked as unmatched for good changes owner", async () => {
    const paid = await payment();
    const strangers = await submitAsStranger(world, paid.signed.call);
    const unmatched = async () => (await books(world.dev, world.database)).unmatched;
    await until(async () => (await unmatched()).pending === 10_000n, "the money is booked as unmatched");
    await expectAtRest(world);
    expect(await unmatched()).toEqual({ posted: 10_000n, pending: 0n });
    const settled = await paid.settle();
    expect(settled.body).toMatchObject({
      success: true,
      transaction: strangers,
      extra: { settledBy: "third-party" },
    });
    expect(await statusOf(world, settled)).toMatchObject({ status: "final", chargeable: false });
    expect(await unmatched()).toEqual({ posted: 0n, pending: 0n });
    expect(await ledgerOf(world.database, strangers)).toEqual([
      "pending in treasury → unmatched 10000",
      "post in treasury → unmatched 10000",
    ]);
    expect(await ledgerOf(world.database, settled.body.extra.paymentId)).toEqual([
      "single net unmatched → available 9950",
      "single fee unmatched → fees 50",
    ]);
    expect(await factsOf(world.database, settled.body.extra.paymentId)).toEqual(["settlement.credited"]);
    await expectAtRest(world);
  });

  it("and the settle comes when the authorization has run out: what was paid is credited all the same", async () => {
    const { timestamp } = await world.dev.chain.head();
    const paid = await payment({ validBefore: BigInt(timestamp + 60) });
    const strangers = await submitAsStranger(world, paid.signed.call);
    await world.dev.anvil.rpc("evm_increaseTime", [60]);
    await world.dev.anvil.mine();
    // another payment has shown the service what time it is there
    expect((await (await payment({ validBefore: BigInt(timestamp + 600) })).verify()).body.isValid).toBe(
      true,
    );
    const settled = await paid.settle();
    expect(settled.body).toMatchObject({ success: true, transaction: strangers });
    await expectAtRest(world);
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({ state: "final", attempts: 0 });
  });

  it("after we failed it: the late inclusion is credited, and the payer who asks again is told success", async () => {
    const paid = await payment();
    const dispatch = holdDispatch(faults);
    const settling = paid.settle();
    await claimedAndHeld(world, paid, dispatch);
    await drain(world, paid.payer);
    dispatch.letGo();
    expect((await settling).body).toMatchObject({ success: false, errorReason: "insufficient_funds" });
    await world.dev.administer("mint", [paid.payer.address, 10_000n]);
    const strangers = await submitAsStranger(world, paid.signed.call);
    await until(async () => (await stateOf(world.database, paid.nonce)) !== "failed-watch", "it is credited");
    expect(await paid.settle()).toMatchObject({
      status: 200,
      body: { success: true, transaction: strangers },
    });
    await expectAtRest(world);
  });
});

describe("a signature that became public, claimed for something else", () => {
  it("waits for a person: the money is booked as unmatched, and neither is told success", async () => {
    // given a payment that was verified for one resource, and submitted by a stranger
    const honest = await payment();
    expect(await honest.verify()).toMatchObject({ body: { isValid: true } });
    const strangers = await submitAsStranger(world, honest.signed.call);
    // when another resource of the same price claims it first
    const thief = await merchant.register();
    const path = `/x402/resources/${thief.id}/settle`;
    const claimed = await post(world.baseUrl, path, honest.body);
    expect(claimed.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(await statusOf(world, claimed)).toMatchObject({ status: "review", chargeable: true });
    // then nobody is credited
    expect(await honest.settle()).toMatchObject({
      status: 409,
      body: { errorReason: "authorization_bound_elsewhere", transaction: "" },
    });
    await expectAtRest(world);
    expect(await stateOf(world.database, honest.nonce)).toBe("review");
    expect(await ledgerOf(world.database, claimed.body.extra.paymentId)).toEqual([]);
    expect(await ledgerOf(world.database, strangers)).toEqual([
      "pending in treasury → unmatched 10000",
      "post in treasury → unmatched 10000",
    ]);
  });
});

describe("the same nonce signed twice", () => {
  it("used for less before the settle: the settle is refused, and the money is booked as unmatched", async () => {
    const paid = await payment();
    const { nonce, payer } = paid;
    const domain = devDomain(world.dev.usdc);
    const less = await authorize({
      domain,
      key: payer.key,
      to: world.dev.contracts.treasury.address,
      value: 1n,
      nonce,
    });
    const strangers = await submitAsStranger(world, less.call);
    expect(await paid.verify()).toMatchObject({
      body: { isValid: false, invalidReason: "invalid_exact_evm_nonce_already_used" },
    });
    expect(await paid.settle()).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" },
    });
    expect(await claimOf(world.database, nonce)).toBeNull();
    await expectAtRest(world);
    expect(await ledgerOf(world.database, strangers)).toEqual([
      "pending in treasury → unmatched 1",
      "post in treasury → unmatched 1",
    ]);
  });

  it("used for less after the claim: the payment ends cancelled, and the books still equal the chain", async () => {
    const paid = await payment();
    const { nonce, payer } = paid;
    const domain = devDomain(world.dev.usdc);
    const less = await authorize({
      domain,
      key: payer.key,
      to: world.dev.contracts.treasury.address,
      value: 1n,
      nonce,
    });
    const dispatch = holdDispatch(faults);
    const settling = paid.settle();
    await claimedAndHeld(world, paid, dispatch);
    const strangers = await submitAsStranger(world, less.call);
    dispatch.letGo();
    expect(await settling).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "invalid_exact_evm_nonce_already_used" },
    });
    await expectAtRest(world);
    await until(async () => (await stateOf(world.database, nonce)) === "cancelled", "it ends");
    expect(await ledgerOf(world.database, strangers)).toEqual([
      "pending in treasury → unmatched 1",
      "post in treasury → unmatched 1",
    ]);
  });
});

describe("money nobody asked for", () => {
  it("a plain transfer to the treasury is booked as unmatched, and books equal the chain", async () => {
    const giver = await newPayer(world.dev, 777n);
    const before = await books(world.dev, world.database);
    const given = await transfer(world, giver.address, world.dev.contracts.treasury.address, 777n);
    await until(async () => (await ledgerOf(world.database, given)).length > 0, "it is booked");
    await expectAtRest(world);
    expect(await ledgerOf(world.database, given)).toEqual([
      "pending in treasury → unmatched 777",
      "post in treasury → unmatched 777",
    ]);
    const after = await books(world.dev, world.database);
    expect(after.unmatched.posted - before.unmatched.posted).toBe(777n);
    expect(after.available).toEqual(before.available);
  });

  it("a transfer from the treasury to itself is none, and holds nothing up", async () => {
    const { address: treasury } = world.dev.contracts.treasury;
    const giver = await newPayer(world.dev, 5n);
    await transfer(world, giver.address, treasury, 5n);
    const turned = await transfer(world, treasury, treasury, 5n);
    await expectAtRest(world);
    expect(await ledgerOf(world.database, turned)).toEqual([]);
    expect(await world.house.operate.strayOutflows()).toEqual([]);
    expect((await world.house.reconcile()).map(({ status }) => status)).not.toContain("different");
  });
});
