/** A chain whose endpoints lie, fall silent or forget, and whose blocks do not take what we send. */
import { parseTransaction } from "viem";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { address, type Hash, type Hex } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { chainFaults } from "../support/chain-faults.ts";
import { gate } from "../support/gate.ts";
import { sharedMerchant, sharedWorld, until } from "../support/house.ts";
import {
  type AttemptRecord,
  attemptsOf,
  claimOf,
  factsOf,
  ledgerOf,
  stateOf,
  transactionsSent,
} from "../support/records.ts";
import {
  cancel,
  expectAtRest,
  headIsFollowed,
  newPayment,
  type Payment,
  statusOf,
  withMiningHeld,
} from "../support/scene.ts";

const GWEI = 1_000_000_000n;
const faults = chainFaults();

const world = sharedWorld({ wrapChain: faults.wrap, lanes: 2, settings: { maxWaitMs: 1_500 } });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const payment = (terms = {}) => newPayment(world, merchant, { terms });
const down = () => Promise.reject(fault("chain_unavailable", { chain: "local" }));

async function isInPool(hash: string): Promise<boolean> {
  return (await world.dev.anvil.rpc("eth_getTransactionByHash", [hash])) !== null;
}

/** Mines block after block, as a chain does, until the settle is answered. */
async function minedUntil<T>(answer: Promise<T>): Promise<T> {
  let isDone = false;
  const done = answer.finally(() => {
    isDone = true;
  });
  await until(async () => {
    if (!isDone) await world.dev.anvil.mine();
    return isDone;
  }, "the settle is answered");
  return done;
}

async function expectSettledOnce(paid: Payment): Promise<readonly AttemptRecord[]> {
  await expectAtRest(world);
  const { id } = (await claimOf(world.database, paid.nonce)) ?? { id: "" };
  expect(await ledgerOf(world.database, id)).toEqual([
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ]);
  expect(await paid.settle()).toMatchObject({ status: 409, body: { errorReason: "duplicate_settlement" } });
  return attemptsOf(world.database, paid.nonce);
}

describe("a send that is not answered", () => {
  it("is pending with its hash while the pool has it, and settles once", async () => {
    const paid = await payment();
    await withMiningHeld(world, async () => {
      faults.set({
        send: (real) => async (raw) => {
          await real.send(raw);
          return "unknown";
        },
      });
      const pending = await paid.settle();
      expect(pending).toMatchObject({
        status: 200,
        body: { success: false, errorReason: "settlement_pending", extra: { retryAfterSeconds: 2 } },
      });
      expect(await isInPool(pending.body.transaction)).toBe(true);
      expect((await statusOf(world, pending)).status).toBe("pending");
      const joined = [paid.settle(), paid.settle()];
      await world.dev.anvil.mine();
      const answers = (await Promise.all(joined)).sort((a, b) => a.status - b.status);
      expect(answers).toMatchObject([
        { status: 200, body: { success: true, transaction: pending.body.transaction } },
        { status: 409, body: { success: false, transaction: pending.body.transaction } },
      ]);
    });
    expect(await expectSettledOnce(paid)).toHaveLength(1);
  });

  it("is pending with its hash when nobody got it, and the same bytes are sent until a block has them", async () => {
    const paid = await payment();
    await headIsFollowed(world);
    await withMiningHeld(world, async () => {
      faults.set({ send: () => async () => "unknown" });
      const pending = await paid.settle();
      expect(pending.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
      expect(await isInPool(pending.body.transaction)).toBe(false);
      faults.clear();
      await world.dev.anvil.mine(2);
      await until(() => isInPool(pending.body.transaction), "the same bytes are sent again");
      await world.dev.anvil.mine();
      expect((await paid.settle()).body).toMatchObject({
        success: true,
        transaction: pending.body.transaction,
      });
    });
    expect(await expectSettledOnce(paid)).toHaveLength(1);
  });
});

describe("endpoints that cannot be read", () => {
  it("settle is 503 and verify says so, both without a verdict, and nothing is claimed", async () => {
    const paid = await payment();
    faults.set({ readAuthorizations: () => down });
    const settled = await paid.settle();
    expect(settled).toMatchObject({
      status: 503,
      body: { success: false, errorReason: "unexpected_settle_error", transaction: "" },
    });
    expect(settled.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await paid.verify()).toMatchObject({
      status: 200,
      body: { isValid: false, invalidReason: "unexpected_verify_error" },
    });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    faults.clear();
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectSettledOnce(paid);
  });

  it("a claim made before stays queued, and is sent when they answer again", async () => {
    const paid = await payment();
    const before = await transactionsSent(world.dev);
    let asked = 0;
    faults.set({
      fees: () => down,
      // Asked when it is claimed, and again right before it would be signed.
      haveCode: (real) => async (accounts) => {
        asked += 1;
        return asked === 1 ? real.haveCode(accounts) : down();
      },
    });
    expect((await paid.settle()).body).toMatchObject({ errorReason: "settlement_pending", transaction: "" });
    expect(await stateOf(world.database, paid.nonce)).toBe("claimed");
    expect(await transactionsSent(world.dev)).toBe(before);
    faults.clear();
    await until(async () => (await paid.settle()).body.success === true, "it settles");
    await expectSettledOnce(paid);
  });

  it("finality that could not be read is followed at the next turn, though no further block comes", async () => {
    const paid = await payment();
    expect((await paid.settle()).body).toMatchObject({ success: true });
    let asked = 0;
    faults.set({
      finalized: (real) => async () => {
        asked += 1;
        return asked <= 2 ? down() : real.finalized();
      },
    });
    await world.dev.anvil.mine(3);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "final", "it is final");
    expect(asked).toBeGreaterThan(2);
  });

  it("a receipt of a branch that we never followed does not keep a slot open", async () => {
    const paid = await payment();
    let asked = 0;
    faults.set({
      receipt: (real) => async (hash) => {
        const receipt = await real.receipt(hash);
        asked += receipt ? 1 : 0;
        return receipt && asked === 1 ? { ...receipt, blockHash: `0x${"f0".repeat(32)}` as Hash } : receipt;
      },
    });
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectSettledOnce(paid);
    expect(asked).toBeGreaterThan(1);
  });
});

describe("an authorization that runs out", () => {
  it("while fees are above the cap: pending, then failed for that reason, and expired only after a final block says so", async () => {
    const { timestamp } = await world.dev.chain.head();
    const paid = await payment({ validBefore: BigInt(timestamp + 60) });
    const before = await transactionsSent(world.dev);
    const spike = { baseFeePerGas: 10_000n * GWEI, maxPriorityFeePerGas: 1n, hasRoom: false };
    faults.set({ fees: () => async () => spike });
    const pending = await paid.settle();
    expect(pending.body).toMatchObject({ errorReason: "settlement_pending", transaction: "" });
    // when a block past validBefore is mined, but is not final
    await world.dev.anvil.rpc("evm_increaseTime", [61]);
    await world.dev.anvil.mine();
    await headIsFollowed(world);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "failed-watch", "it has failed");
    expect(await statusOf(world, pending)).toMatchObject({
      errorReason: "unexpected_settle_error",
      chargeable: true,
    });
    // and when it is final
    await world.dev.anvil.mine(2);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "expired", "it expires");
    const told = await paid.settle();
    expect(told.body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_payload_authorization_valid_before",
      transaction: "",
      extra: { chargeable: false },
    });
    // and whatever its payer does with the nonce after that, it stays as it ended
    await cancel(world, paid.payer, paid.nonce);
    await world.dev.anvil.mine(3);
    await headIsFollowed(world);
    expect(await paid.settle()).toMatchObject({ status: told.status, body: told.body });
    expect(await factsOf(world.database, pending.body.extra.paymentId)).toEqual([
      ...["settlement.failed", "settlement.expired"],
    ]);
    faults.clear();
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before);
  });

  it("and is cancelled before that is final: it ends once, as cancelled", async () => {
    const { timestamp } = await world.dev.chain.head();
    const paid = await payment({ validBefore: BigInt(timestamp + 60) });
    faults.set({
      fees: () => async () => ({ baseFeePerGas: 10_000n * GWEI, maxPriorityFeePerGas: 1n, hasRoom: false }),
    });
    const pending = await paid.settle();
    await world.dev.anvil.rpc("evm_increaseTime", [61]);
    await cancel(world, paid.payer, paid.nonce);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "failed-watch", "it has failed");
    await world.dev.anvil.mine(2);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "cancelled", "it ends");
    expect(await statusOf(world, pending)).toMatchObject({
      errorReason: "invalid_exact_evm_nonce_already_used",
      chargeable: false,
    });
    expect(await factsOf(world.database, pending.body.extra.paymentId)).toEqual([
      ...["settlement.failed", "settlement.cancelled"],
    ]);
    faults.clear();
    await expectAtRest(world);
  });

  it("while it waits to be sent: failed with that reason, never sent", async () => {
    const { timestamp } = await world.dev.chain.head();
    const paid = await payment({ validBefore: BigInt(timestamp + 60) });
    const before = await transactionsSent(world.dev);
    const held = gate();
    onTestFinished(held.open);
    const [reached, checked] = [gate(), gate()];
    let isReached = false;
    faults.set({
      fees: (real) => async () => {
        isReached = true;
        reached.open();
        await held.passed;
        return real.fees();
      },
      readAuthorizations: (real) => async (from, items) => {
        const mayBeSent = isReached;
        const states = await real.readAuthorizations(from, items);
        if (mayBeSent) checked.open();
        return states;
      },
    });
    const settling = paid.settle();
    await Promise.all([reached.passed, checked.passed]);
    await world.dev.anvil.rpc("evm_increaseTime", [61]);
    await world.dev.anvil.mine();
    held.open();
    expect((await settling).body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_payload_authorization_valid_before",
      extra: { chargeable: true },
    });
    await world.dev.anvil.mine(2);
    await until(async () => (await stateOf(world.database, paid.nonce)) === "expired", "it expires");
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before);
  });
});

describe("a payment that waits for a final block", () => {
  it("takes its payer's money into account once, not twice", async () => {
    const large = await newPayment(world, merchant, { dollars: 10_000n });
    await world.dev.administer("mint", [large.payer.address, 10_000n]);
    const small = await newPayment(world, merchant, { payer: large.payer });
    // given a large payment that is mined and waits for its depth, and a payer with just enough left for a small one
    expect((await large.settle()).body).toMatchObject({ errorReason: "settlement_pending" });
    expect(await stateOf(world.database, large.nonce)).toBe("submitting");
    expect(await world.dev.chain.tokenBalance(world.dev.usdc, large.payer.address, "latest")).toBe(10_000n);
    // then the small one passes
    expect(await small.verify()).toMatchObject({ body: { isValid: true } });
    expect((await small.settle()).body).toMatchObject({ success: true });
    await world.dev.anvil.mine(2);
    expect((await large.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
  });
});

describe("a transaction that no block takes", () => {
  it("is replaced at the same nonce with both fees a tenth higher, and pays once", async () => {
    const paid = await payment();
    await withMiningHeld(world, async () => {
      const settling = paid.settle();
      await until(async () => (await attemptsOf(world.database, paid.nonce)).length === 1, "it is sent");
      const base = 20n * GWEI;
      await world.dev.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${base.toString(16)}`]);
      await settling;
      expect((await minedUntil(settledAtLast(paid))).body).toMatchObject({ success: true });
    });
    const [first, second, ...more] = await expectSettledOnce(paid);
    expect(more).toEqual([]);
    if (!first || !second) throw new Error("there was no replacement");
    expect(second.nonce).toBe(first.nonce);
    expect(BigInt(second.max_fee) * 10n).toBeGreaterThanOrEqual(BigInt(first.max_fee) * 11n);
    expect(BigInt(second.tip) * 10n).toBeGreaterThanOrEqual(BigInt(first.tip) * 11n);
    expect((await claimOf(world.database, paid.nonce))?.included_tx).toBe(second.tx_hash);
    const raws = await world.database.query<{ raw: Hex }>(
      "SELECT raw FROM attempt WHERE tx_hash IN (decode($1, 'hex'), decode($2, 'hex')) ORDER BY seq",
      [first.tx_hash.slice(2), second.tx_hash.slice(2)],
    );
    const [before, after] = raws.map(({ raw }) => parseTransaction(raw));
    expect(after).toMatchObject({ nonce: before?.nonce, to: before?.to, data: before?.data });
  });
});

async function settledAtLast(paid: Payment) {
  for (;;) {
    const answer = await paid.settle();
    if (answer.body.errorReason !== "settlement_pending") return answer;
  }
}

/** Last: these lanes are lost. */
describe("somebody else who uses a gas key", () => {
  const lanes = () =>
    world.database.query<{ address: string; state: string }>(
      "SELECT '0x' || encode(address, 'hex') AS address, state FROM signer ORDER BY state DESC",
    );

  it("while it idles: the lane is quarantined, and the other one goes on", async () => {
    const [stolen, other] = world.dev.contracts.signers.map((signer) => address(signer.address));
    await world.dev.transact(stolen ?? "", { to: world.dev.usdc, data: "0x18160ddd" });
    await until(async () => (await lanes())[0]?.state === "quarantined", "the lane is quarantined");
    expect(await lanes()).toEqual([
      { address: stolen, state: "quarantined" },
      { address: other, state: "active" },
    ]);
    const paid = await payment();
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectSettledOnce(paid);
    expect(await signersOf(paid)).toEqual([other]);
  });

  it("for a nonce that we had stored a payment for: the payment is queued again and stays alive", async () => {
    const paid = await payment();
    faults.set({ send: () => async () => "unknown" });
    expect((await paid.settle()).body).toMatchObject({ errorReason: "settlement_pending" });
    const [stolen] = await signersOf(paid);
    await world.dev.transact(stolen ?? "", { to: world.dev.usdc, data: "0x18160ddd" });
    faults.clear();
    await until(async () => {
      await world.dev.anvil.mine();
      return (await stateOf(world.database, paid.nonce)) === "claimed";
    }, "it is queued again");
    expect((await lanes()).map(({ state }) => state)).toEqual(["quarantined", "quarantined"]);
    expect((await paid.settle()).body).toMatchObject({ errorReason: "settlement_pending" });
    // and a person who has looked puts the lane back to work
    await world.database.query(
      "UPDATE signer SET state = 'active', next_nonce = $1 WHERE address = decode($2, 'hex')",
      [await world.dev.chain.nonce(address(stolen ?? ""), "latest"), (stolen ?? "").slice(2)],
    );
    await until(async () => (await paid.settle()).body.success === true, "it settles");
    await expectSettledOnce(paid);
  });
});

async function signersOf(paid: Payment): Promise<readonly string[]> {
  const rows = await world.database.query<{ address: string }>(
    `SELECT DISTINCT '0x' || encode(slot.signer, 'hex') AS address FROM slot
     JOIN slot_item ON slot_item.slot_id = slot.id JOIN claim ON claim.claim_key = slot_item.claim_key
     WHERE claim.nonce = decode($1, 'hex')`,
    [paid.nonce.slice(2)],
  );
  return rows.map((row) => row.address);
}
