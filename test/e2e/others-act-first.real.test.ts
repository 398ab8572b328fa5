/** What a payer or a stranger does on the chain, before, between and after our own steps. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { authorize, devDomain } from "../support/authorization.ts";
import { chainFaults, gate } from "../support/chain-faults.ts";
import { books, newMerchant, newPayer, post, startWorld, until } from "../support/house.ts";
import { claimOf, factsOf, ledgerOf, stateOf, transactionsSent } from "../support/records.ts";
import {
  cancel,
  drain,
  expectAtRest,
  newPayment,
  statusOf,
  submitAsStranger,
  transfer,
} from "../support/scene.ts";

vi.setConfig({ testTimeout: 30_000 });

const faults = chainFaults();
let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;

beforeAll(async () => {
  world = await startWorld({
    wrapChain: faults.wrap,
    settings: { maxWaitMs: 6_000 },
  });
  merchant = await newMerchant(world);
});
afterEach(() => faults.clear());
afterAll(() => world.stop());

const payment = (terms = {}) => newPayment(world, merchant, { terms });

/** Lets the dispatcher take claims, and stops it before it looks at them again. */
function holdDispatch() {
  const held = gate();
  const reached = gate();
  onTestFinished(held.open);
  faults.set({
    fees: (real) => async () => {
      reached.open();
      await held.passed;
      return real.fees();
    },
  });
  return { reached: reached.passed, letGo: held.open };
}

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
    const dispatch = holdDispatch();
    const settling = paid.settle();
    await dispatch.reached;
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
    expect([...(await factsOf(world.database, settled.body.extra.paymentId))].sort()).toEqual([
      "settlement.claimed",
      "settlement.credited",
      "settlement.final",
    ]);
    await expectAtRest(world);
  });

  it("after we failed it: the late inclusion is credited, and the payer who asks again is told success", async () => {
    const paid = await payment();
    const dispatch = holdDispatch();
    const settling = paid.settle();
    await dispatch.reached;
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
    const dispatch = holdDispatch();
    const settling = paid.settle();
    await dispatch.reached;
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
    const dispatch = holdDispatch();
    const settling = paid.settle();
    await dispatch.reached;
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
      "settlement.claimed",
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
    const { number } = await world.dev.chain.head();
    await until(async () => {
      const [row] = await world.database.query<{ at: string }>("SELECT cursor_number AS at FROM observer");
      return Number(row?.at) >= number;
    }, "the block of the cancellation is followed");
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
    const dispatch = holdDispatch();
    const settling = paid.settle();
    await dispatch.reached;
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
    const dispatch = holdDispatch();
    const settling = [first.settle()];
    await dispatch.reached;
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
    `SELECT count(*) AS n FROM slot_item WHERE slot_id = (SELECT slot_id FROM slot_item
       JOIN claim ON claim.claim_key = slot_item.claim_key WHERE claim.nonce = decode($1, 'hex'))`,
    [nonce.slice(2)],
  );
  return Number(row?.n);
}

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
});
