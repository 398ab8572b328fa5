/** What a payer does on the chain, before, between and after our own steps. */
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { authorize, devDomain } from "../support/authorization.ts";
import { chainFaults, holdDispatch } from "../support/chain-faults.ts";
import { gate } from "../support/gate.ts";
import { sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { claimOf, factsOf, ledgerOf, stateOf, transactionsSent } from "../support/records.ts";
import {
  cancel,
  claimedAndHeld,
  drain,
  expectAtRest,
  headIsFollowed,
  newPayment,
  submitAsStranger,
} from "../support/scene.ts";

const faults = chainFaults();
const counted = new Map<string, number>();

const world = sharedWorld({
  wrapChain: faults.wrap,
  meter: { count: (name, _, by = 1) => counted.set(name, (counted.get(name) ?? 0) + by), time: () => {} },
  settings: { maxWaitMs: 6_000 },
});
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const payment = (terms = {}) => newPayment(world, merchant, { terms });

describe("a payer who cancels", () => {
  it("before the settle: verify and settle say that the nonce is used, and nothing is claimed", async () => {
    const paid = await payment();
    await cancel(world, paid.payer, paid.nonce);
    expect(await paid.verify()).toMatchObject({
      body: { isValid: false, invalidReason: "invalid_exact_evm_nonce_already_used" },
    });
    expect(await paid.settle()).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" },
    });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
  });

  it("after the claim: the payment ends cancelled and is never credited", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    const dispatch = holdDispatch(faults);
    const settling = paid.settle();
    await claimedAndHeld(world, paid, dispatch);
    await cancel(world, paid.payer, paid.nonce);
    const answer = await settling;
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: false,
        errorReason: "invalid_exact_evm_nonce_already_used",
        transaction: "",
        extra: { chargeable: true },
      },
    });
    dispatch.letGo();
    await world.dev.anvil.mine(3);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "cancelled", "it ends");
    expect((await paid.settle()).body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
      extra: { chargeable: false },
    });
    expect(await ledgerOf(world.database, answer.body.extra.paymentId)).toEqual([]);
    expect(await factsOf(world.database, answer.body.extra.paymentId)).toEqual([
      "settlement.failed",
      "settlement.cancelled",
    ]);
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before);
  });

  it("just before the claim, in a block that was followed before it: the payment ends cancelled all the same", async () => {
    // given a settle that has read the chain, and is held before it claims
    const paid = await payment();
    const read = gate();
    const held = gate();
    onTestFinished(held.open);
    let isFirst = true;
    faults.set({
      readAuthorizations: (real) => async (from, items) => {
        const states = await real.readAuthorizations(from, items);
        if (!isFirst) return states;
        isFirst = false;
        read.open();
        await held.passed;
        return states;
      },
    });
    const settling = paid.settle();
    await read.passed;
    // when the payer cancels, the block is followed, and only then the claim is made
    await cancel(world, paid.payer, paid.nonce);
    await headIsFollowed(world);
    held.open();
    // then it is failed and, after finality, cancelled
    expect((await settling).body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
    });
    await world.dev.anvil.mine(3);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "cancelled", "it ends");
    await expectAtRest(world);
  });
});

describe("a payer who signs one nonce twice", () => {
  it("and moves less with it: a view that lags lets it be claimed and sent; it ends cancelled, and is a failure", async () => {
    // given a nonce that moved one unit, in a block that was followed before the settle
    const paid = await payment();
    const { key, address } = paid.payer;
    await world.dev.administer("mint", [address, 1n]);
    const to = paid.body.paymentRequirements.payTo;
    const less = { domain: devDomain(world.dev.usdc), key, to, value: 1n, nonce: paid.nonce };
    await submitAsStranger(world, (await authorize(less)).call);
    await headIsFollowed(world);
    // when the endpoint does not know of it until our transaction is sent
    faults.set({
      readAuthorizations: (real) => async (from, items) => {
        const states = await real.readAuthorizations(from, items);
        return states.map((state) => ({ ...state, used: false, transfer: { ok: true, data: "0x" } }));
      },
      send: (real) => async (raw) => {
        faults.clear();
        return real.send(raw);
      },
    });
    const answer = await paid.settle();
    // then nothing was paid, and nothing of it stays open
    expect(answer.body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
    });
    await world.dev.anvil.mine(3);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "cancelled", "it ends");
    expect(await ledgerOf(world.database, answer.body.extra.paymentId)).toEqual([]);
    expect(
      await world.database.query("SELECT failures, has_paid FROM payer_gas WHERE payer = decode($1, 'hex')", [
        address.slice(2),
      ]),
    ).toEqual([{ failures: 1, has_paid: false }]);
    await expectAtRest(world);
  });
});

describe("a payer who spends the money elsewhere", () => {
  it("between verify and settle: insufficient_funds, nothing claimed, nothing sent", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    expect(await paid.verify()).toMatchObject({ body: { isValid: true } });
    await drain(world, paid.payer);
    expect(await paid.settle()).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "insufficient_funds", transaction: "" },
    });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect(await transactionsSent(world.dev)).toBe(before);
  });

  it("between claim and dispatch: insufficient_funds, nothing sent, and it settles once cured", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    const dispatch = holdDispatch(faults);
    const settling = paid.settle();
    await claimedAndHeld(world, paid, dispatch);
    await drain(world, paid.payer);
    dispatch.letGo();
    expect(await settling).toMatchObject({
      status: 200,
      body: {
        success: false,
        errorReason: "insufficient_funds",
        transaction: "",
        extra: { chargeable: true },
      },
    });
    expect(await stateOf(world.database, paid.nonce)).toBe("failed-watch");
    expect(await transactionsSent(world.dev)).toBe(before);
    await world.dev.administer("mint", [paid.payer.address, 10_000n]);
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before + 1);
  });

  it("between simulation and block: the one item of the batch fails alone", async () => {
    // given a lane that is held at its first payment while nine more are claimed
    const first = await payment();
    const bad = await payment();
    const good = [];
    for (let i = 0; i < 8; i += 1) good.push(await payment());
    const dispatch = holdDispatch(faults);
    counted.clear();
    const settling = [first.settle()];
    await claimedAndHeld(world, first, dispatch);
    settling.push(bad.settle());
    await until(async () => (await stateOf(world.database, bad.nonce)) === "claimed", "the bad one is next");
    settling.push(...good.map((each) => each.settle()));
    await until(async () => (await openClaims()) === 10, "all are claimed");
    // when one payer of the first batch is drained after its bytes were stored
    let sent = 0;
    faults.set({
      send: (real) => async (raw) => {
        sent += 1;
        if (sent === 2) await drain(world, bad.payer);
        return real.send(raw);
      },
    });
    dispatch.letGo();
    // then it was one of several, and all others settle
    const [one, other, ...answers] = await Promise.all(settling);
    for (const answer of [one, ...answers]) expect(answer?.body).toMatchObject({ success: true });
    expect(other?.body).toMatchObject({ success: false, errorReason: "insufficient_funds" });
    expect(await companyOf(bad.nonce)).toBeGreaterThan(1);
    await expectAtRest(world);
    expect(await stateOf(world.database, bad.nonce)).toBe("failed-watch");
    for (const { nonce } of good) expect(await stateOf(world.database, nonce)).toBe("final");
    // and what it cost is counted
    expect(counted.get("failed_items")).toBe(1);
    expect(counted.get("wasted_gas_wei")).toBeGreaterThan(0);
  });
});

async function openClaims(): Promise<number> {
  const [row] = await world.database.query<{ n: string }>(
    "SELECT count(*) AS n FROM claim WHERE state IN ('claimed','submitting')",
  );
  return Number(row?.n);
}

/** How many payments the transaction of this one carried. */
async function companyOf(nonce: string): Promise<number> {
  const [row] = await world.database.query<{ n: string }>(
    `SELECT count(*) AS n FROM slot_item
     WHERE slot_id = (SELECT claim.slot_id FROM claim WHERE claim.nonce = decode($1, 'hex'))`,
    [nonce.slice(2)],
  );
  return Number(row?.n);
}
