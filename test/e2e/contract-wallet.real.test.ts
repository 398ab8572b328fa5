/** Payers that are contracts, or become one after they have signed. */
import { encodeFunctionData, parseTransaction, toFunctionSelector } from "viem";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { address, type Hash, type Hex } from "#kernel/bytes";
import { type Artifacts, loadArtifacts } from "../../contracts/index.ts";
import { newKey } from "../support/authorization.ts";
import { chainFaults, type Faults } from "../support/chain-faults.ts";
import { gate } from "../support/gate.ts";
import { post, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { claimOf, stateOf, transactionsSent } from "../support/records.ts";
import {
  expectAtRest,
  newPayment,
  type Payment,
  submitAsStranger,
  withMiningHeld,
} from "../support/scene.ts";

const BYTES_FORM = toFunctionSelector(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
);
const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap, settings: { maxWaitMs: 5_000 } });
const merchant = sharedMerchant(world);
let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await loadArtifacts();
});
afterEach(() => faults.clear());

/** A wallet with the money of one payment, and a payment that its owner has signed for it. */
async function walletPayment() {
  const owner = newKey();
  const wallet = await world.dev.deploy(artifacts.wallet1271, [owner.address]);
  await world.dev.administer("mint", [wallet, 10_000n]);
  return newPayment(world, merchant, { payer: { key: owner.key, address: wallet }, terms: { from: wallet } });
}

/** 1 takes all gas it is given, 2 says yes only where no fee is paid. */
async function misbehave(paid: Payment, mode: 1 | 2): Promise<void> {
  const { abi } = artifacts.wallet1271;
  const data = encodeFunctionData({ abi, functionName: "setMode", args: [mode] });
  await world.dev.transact(world.dev.contracts.payer.address, { to: paid.payer.address, data });
}

/** The account's code from now on, as a delegation would have it. */
async function becomeContract(paid: Payment, code: Hex, owner?: string): Promise<void> {
  await world.dev.anvil.rpc("anvil_setCode", [paid.payer.address, code]);
  if (owner === undefined) return;
  const word = `0x${owner.slice(2).padStart(64, "0")}`;
  await world.dev.anvil.rpc("anvil_setStorageAt", [paid.payer.address, `0x${"0".repeat(64)}`, word]);
}

/** The transactions that carried a payment, and how many payments each carried. */
async function carriers(nonce: Hash) {
  const rows = await world.database.query<{ raw: Hex; items: string }>(
    `SELECT attempt.raw, (SELECT count(*) FROM slot_item AS other WHERE other.slot_id = slot_item.slot_id) AS items
     FROM attempt JOIN slot_item ON slot_item.slot_id = attempt.slot_id
     JOIN claim ON claim.claim_key = slot_item.claim_key WHERE claim.nonce = decode($1, 'hex')`,
    [nonce.slice(2)],
  );
  return rows.map(({ raw, items }) => {
    const { to, data } = parseTransaction(raw);
    return { to: address(to ?? ""), form: data?.slice(0, 10), items: Number(items) };
  });
}

/** Payments claimed while the lane is held at its first; they come out together. */
async function claimedTogether(payments: readonly Payment[]) {
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
  const first = await newPayment(world, merchant);
  const settling = [first.settle()];
  await reached.passed;
  settling.push(...payments.map((paid) => paid.settle()));
  for (const { nonce } of payments)
    await until(async () => (await stateOf(world.database, nonce)) === "claimed", "it is claimed");
  return {
    letGo: held.open,
    answers: async () => {
      const [, ...answers] = await Promise.all(settling);
      return answers.map(({ body }) => (body.success ? "success" : body.errorReason));
    },
  };
}

describe("a contract wallet", () => {
  it("is verified by its own code, and settles alone, through the bytes form", async () => {
    const paid = await walletPayment();
    expect(await paid.verify()).toMatchObject({ body: { isValid: true } });
    const others: Payment[] = [];
    for (let i = 0; i < 3; i += 1) others.push(await newPayment(world, merchant));
    const together = await claimedTogether([paid, ...others]);
    together.letGo();
    expect(await together.answers()).toEqual(["success", "success", "success", "success"]);
    expect(await carriers(paid.nonce)).toEqual([{ to: world.dev.usdc, form: BYTES_FORM, items: 1 }]);
    await expectAtRest(world);
  });

  it("that takes all gas is refused before any is spent, and harms nobody beside it", async () => {
    const paid = await walletPayment();
    await misbehave(paid, 1);
    const before = await transactionsSent(world.dev);
    const honest = await newPayment(world, merchant);
    const [refused, fine] = await Promise.all([paid.settle(), honest.settle()]);
    expect(refused.body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_signature" });
    expect(fine.body).toMatchObject({ success: true });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before + 1);
  });

  it("that says yes only in simulations is refused before any gas is spent", async () => {
    const paid = await walletPayment();
    await misbehave(paid, 2);
    const before = await transactionsSent(world.dev);
    expect(await paid.verify()).toMatchObject({ body: { isValid: false } });
    expect((await paid.settle()).body).toMatchObject({ success: false, transaction: "" });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect(await transactionsSent(world.dev)).toBe(before);
  });

  it("that turns bad between claim and dispatch is not sent", async () => {
    const paid = await walletPayment();
    const before = await transactionsSent(world.dev);
    const together = await claimedTogether([paid]);
    await misbehave(paid, 1);
    together.letGo();
    const [answer] = await together.answers();
    expect(answer).not.toBe("success");
    expect(await stateOf(world.database, paid.nonce)).toBe("failed-watch");
    await expectAtRest(world);
    expect(await transactionsSent(world.dev)).toBe(before + 1); // the one that held the lane
  });
});

describe("an account that is delegated to code, and signs with its key", () => {
  it("is refused by verify as by settle when its code knows no signatures", async () => {
    const paid = await newPayment(world, merchant);
    await becomeContract(paid, `0xef0100${world.dev.usdc.slice(2)}`);
    const before = await transactionsSent(world.dev);
    expect(await paid.verify()).toMatchObject({
      body: { isValid: false, invalidReason: "invalid_exact_evm_signature" },
    });
    expect((await paid.settle()).body).toMatchObject({ success: false, transaction: "" });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect(await transactionsSent(world.dev)).toBe(before);
  });

  it("pays when its code takes the signature of its key", async () => {
    const paid = await newPayment(world, merchant);
    await becomeContract(paid, artifacts.wallet1271.deployedBytecode, paid.payer.address);
    expect(await paid.verify()).toMatchObject({ body: { isValid: true } });
    expect((await paid.settle()).body).toMatchObject({ success: true });
    expect(await carriers(paid.nonce)).toMatchObject([{ form: BYTES_FORM, items: 1 }]);
    await expectAtRest(world);
  });
});

describe("calls that verify has to spare", () => {
  /** Verify takes so many, and with one less is told to come back. */
  async function expectLooks(paid: Payment, calls: number, others: Faults = {}): Promise<void> {
    for (let given = 0; given <= calls; given += 1) {
      let left = given;
      faults.set({ ...others, hasSpareCalls: () => () => left-- > 0 });
      const expected =
        given < calls ? { status: 429, body: { code: "rate_limited" } } : { body: { isValid: true } };
      expect(await paid.verify()).toMatchObject(expected);
    }
  }

  it("are needed for a wallet's code, its word about the signature, and what its payment would do", async () => {
    await expectLooks(await walletPayment(), 3);
  });

  it("are needed for the read of a delegated account together with others, and for the one alone", async () => {
    const paid = await newPayment(world, merchant);
    await becomeContract(paid, artifacts.wallet1271.deployedBytecode, paid.payer.address);
    await expectLooks(paid, 2);
  });

  it("are needed for one that a stranger has submitted, whose transaction nobody here has seen", async () => {
    const paid = await newPayment(world, merchant);
    // the observer stands still from here on
    const head = await world.dev.chain.head();
    const still: Faults = { head: () => async () => head };
    faults.set(still);
    await submitAsStranger(world, paid.signed.call);
    await expectLooks(paid, 2, still);
  });
});

describe("a wallet that takes its owner's signature no longer", () => {
  it("has paid all the same with what was claimed before, and who asks again is told so", async () => {
    const paid = await walletPayment();
    const told = await withMiningHeld(world, () => paid.settle());
    expect(told.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    await until(async () => (await stateOf(world.database, paid.nonce)) === "included", "it is credited");
    await misbehave(paid, 1);
    expect((await paid.verify()).body).toMatchObject({ isValid: true });
    const { transaction } = told.body;
    expect((await paid.settle()).body).toMatchObject({ success: true, transaction });
    // another signature of it is judged as ever
    const other = { ...paid.body, paymentPayload: { ...paid.body.paymentPayload } };
    const { authorization } = other.paymentPayload.payload;
    other.paymentPayload.payload = { authorization, signature: `0x${"11".repeat(65)}` };
    const { body } = await post(world.baseUrl, `/x402/resources/${paid.resource.id}/settle`, other);
    expect(body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_signature" });
    await expectAtRest(world);
  });
});

describe("an account that gets code after it has signed", () => {
  it("falls out of its batch and is not sent when its code refuses the signature", async () => {
    const bad = await newPayment(world, merchant);
    const good: Payment[] = [];
    for (let i = 0; i < 3; i += 1) good.push(await newPayment(world, merchant));
    const together = await claimedTogether([bad, ...good]);
    await becomeContract(bad, "0x00");
    together.letGo();
    expect(await together.answers()).toEqual([
      "invalid_exact_evm_signature",
      "success",
      "success",
      "success",
    ]);
    expect(await carriers(bad.nonce)).toEqual([]);
    expect(await stateOf(world.database, bad.nonce)).toBe("failed-watch");
    await expectAtRest(world);
  });

  it("falls out of its batch and goes alone, through the bytes form, when its code accepts it", async () => {
    const odd = await newPayment(world, merchant);
    const others: Payment[] = [];
    for (let i = 0; i < 3; i += 1) others.push(await newPayment(world, merchant));
    const together = await claimedTogether([odd, ...others]);
    await becomeContract(odd, artifacts.wallet1271.deployedBytecode, odd.payer.address);
    together.letGo();
    expect(await together.answers()).toEqual(["success", "success", "success", "success"]);
    expect(await carriers(odd.nonce)).toEqual([{ to: world.dev.usdc, form: BYTES_FORM, items: 1 }]);
    await expectAtRest(world);
  });
});
