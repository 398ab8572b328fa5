/** One process on two chains with the same contracts, treasury, gas keys and payers: what happens on one is its own. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { newKey } from "../support/authorization.ts";
import { chainFaults, holdDispatch } from "../support/chain-faults.ts";
import { arrivalsOf, openOrder, payThroughRouter, referenceOf, taker } from "../support/deposits.ts";
import { startDevChain } from "../support/dev-chain.ts";
import { failOnChain } from "../support/gas.ts";
import { gate } from "../support/gate.ts";
import {
  type Answer,
  type Merchant,
  newMerchant,
  newPayer,
  type Payer,
  rowOf,
  startWorld,
  until,
  type World,
} from "../support/house.ts";
import { ledgerOf } from "../support/records.ts";
import {
  cancel,
  claimedAndHeld,
  expectAtRest,
  headIsFollowed,
  newPayment,
  transfer,
  withMiningHeld,
} from "../support/scene.ts";

const faults = chainFaults();
/** What whoever follows a chain does next, once each, when it has written a block's transfers down. */
const afterBlock: (() => Promise<void>)[] = [];
let near: World;
/** The same process and rows, on the chain whose blocks are hundreds higher and weeks later. */
let far: World;
let merchant: Merchant;
beforeAll(async () => {
  const dev = await startDevChain({ chainId: 31_338 });
  await dev.anvil.mine(500, 3_600);
  const config = { ...dev.config, confirmations: 1 };
  near = await startWorld({
    beside: [{ ...dev, config }],
    wrapChain: faults.wrap,
    checkpoint: async (step) => {
      if (step === "observed") await afterBlock.shift()?.();
    },
    settings: { sweepPatienceSeconds: { local: 0, elsewhere: 0 } },
  });
  far = { ...near, dev: { ...dev, config } };
  merchant = await newMerchant(near);
});
afterEach(() => faults.clear());
afterAll(async () => {
  await near?.stop();
  await far?.dev.stop();
});

const pay = async (on: World, given: Parameters<typeof newPayment>[2] = {}) => {
  const payment = await newPayment(on, merchant, given);
  const { body } = await payment.settle();
  expect(body).toMatchObject({ success: true });
  return { ...payment, body };
};
const claimOf = async ({ body }: Pick<Answer, "body">) => {
  const [row] = await near.database.query<{ state: string; epoch: number; chain: string }>(
    "SELECT state, credit_epoch AS epoch, chain_id AS chain FROM claim WHERE id = $1",
    [body.extra.paymentId],
  );
  return row;
};
/** What both chains have moved is final, and books and chains are equal. */
async function atRest(): Promise<void> {
  for (const on of [near, far]) await expectAtRest(on);
  const compared = await near.house.reconcile();
  expect(compared.filter(({ status }) => status !== "equal")).toEqual([]);
}
/** A chain's next blocks are followed, and what they make final is booked. */
async function blocksPass(on: World): Promise<void> {
  for (const blocks of [4, 1, 1]) {
    await on.dev.anvil.mine(blocks);
    await headIsFollowed(on);
    const { number } = await on.dev.chain.finalized();
    await until(async () => {
      const [row] = await on.database.query<{ at: string }>(
        "SELECT finalized_number AS at FROM observer WHERE chain_id = $1",
        [on.dev.anvil.chainId],
      );
      return Number(row?.at) >= number;
    }, "they are final");
  }
}

it("a payer pays with the same nonce on each, and each is credited once, in its own asset", async () => {
  const payer = await newPayer(near.dev, 10_000n);
  await far.dev.administer("mint", [payer.address, 10_000n]);
  const here = await pay(near, { payer });
  const there = await pay(far, { payer, resource: here.resource, terms: { nonce: here.nonce } });
  expect([await claimOf(here), await claimOf(there)]).toMatchObject([{ chain: "31337" }, { chain: "31338" }]);
  await atRest();
  const assets = await near.database.query<{ asset: string; amount: string }>(
    "SELECT asset, sum(amount) AS amount FROM ledger_transfer WHERE phase = 'post' AND leg = 'net' GROUP BY 1 ORDER BY 1",
  );
  expect(assets).toEqual([
    { asset: "USDC@local", amount: "9950" },
    { asset: "USDC@local-31338", amount: "9950" },
  ]);
});

it("neither the time, nor the height, nor the final block of one says anything of the other", async () => {
  const payment = await newPayment(near, merchant);
  const settled = await withMiningHeld(near, async () => {
    const settling = payment.settle();
    await until(async () => {
      const [row] = await near.database.query("SELECT FROM claim WHERE state = 'submitting'");
      return row !== undefined;
    }, "it is on its way");
    // It would be over by the other chain's time.
    await blocksPass(far);
    return { settling };
  });
  await near.dev.anvil.mine();
  const { body } = await settled.settling;
  expect(body).toMatchObject({ success: true });
  await blocksPass(far);
  expect(await claimOf({ body })).toMatchObject({ state: "included", epoch: 0 });
  const giver = await newPayer(near.dev, 20n);
  const given = await transfer(near, giver.address, near.dev.contracts.treasury.address, 20n);
  await until(async () => (await ledgerOf(near.database, given)).length > 0, "it is booked");
  await blocksPass(far);
  expect(await ledgerOf(near.database, given)).toEqual(["pending in treasury → unmatched 20"]);
  await atRest();
  expect(await claimOf({ body })).toMatchObject({ state: "final", epoch: 0 });
});

/** A payment whose payer cancels it after its claim. */
async function cancelled(on: World) {
  const dispatch = holdDispatch(faults);
  const payment = await newPayment(on, merchant);
  const settling = payment.settle();
  await claimedAndHeld(on, payment, dispatch);
  await cancel(on, payment.payer, payment.nonce);
  await headIsFollowed(on);
  faults.clear();
  dispatch.letGo();
  const { body } = await settling;
  expect(body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" });
  return { body };
}

it("what a payer cancelled on one ends when that is final there", async () => {
  const payment = await cancelled(near);
  await blocksPass(far);
  expect(await claimOf(payment)).toMatchObject({ state: "failed-watch" });
  await blocksPass(near);
  await until(async () => (await claimOf(payment))?.state === "cancelled", "it ends");
  await atRest();
});

it("what came to one treasury is never booked as the other's", async () => {
  const giver = await newPayer(near.dev, 25n);
  const [reached, held] = [gate(), gate()];
  onTestFinished(held.open);
  await headIsFollowed(near);
  await headIsFollowed(far);
  afterBlock.push(async () => {
    reached.open();
    await held.passed;
  });
  const given = await transfer(near, giver.address, near.dev.contracts.treasury.address, 25n);
  await reached.passed;
  await blocksPass(far);
  expect(await ledgerOf(near.database, given)).toEqual([]);
  held.open();
  await atRest();
  expect(await ledgerOf(near.database, given)).toEqual([
    "pending in treasury → unmatched 25",
    "post in treasury → unmatched 25",
  ]);
});

it("blocks that leave one take nothing back on the other", async () => {
  const giver = await newPayer(far.dev, 30n);
  const given = await transfer(far, giver.address, far.dev.contracts.treasury.address, 30n);
  await until(async () => (await ledgerOf(far.database, given)).length > 0, "it is booked");
  // None of the two blocks that follow is final yet.
  const payer = await newPayer(far.dev, 10_000n);
  const spent = await cancelled(far);
  const { body } = await pay(far, { payer });
  const unmined = () => far.database.query("SELECT FROM slot WHERE chain_id = 31338 AND open AND NOT sorted");
  await until(async () => (await unmined()).length === 0, "what became of its transaction is known");
  const lost = await pay(near);
  await withMiningHeld(near, async () => {
    await near.dev.anvil.rpc("anvil_reorg", [1, []]);
    await until(async () => (await claimOf(lost))?.epoch === 1, "it is taken back");
  });
  expect(await unmined()).toEqual([]);
  expect(await claimOf({ body })).toMatchObject({ epoch: 0 });
  expect(await ledgerOf(far.database, given)).not.toContain("void in treasury → unmatched 30");
  await near.dev.anvil.mine();
  await atRest();
  expect(await claimOf({ body })).toMatchObject({ state: "final", epoch: 0 });
  expect(await ledgerOf(far.database, given)).toEqual([
    "pending in treasury → unmatched 30",
    "post in treasury → unmatched 30",
  ]);
  await blocksPass(far);
  await until(async () => (await claimOf(spent))?.state === "cancelled", "what was cancelled there ends");
});

it("what reaches an order's address, or names its payment, on another chain than its own is not for it", async () => {
  const order = await openOrder(near, { chain: "local" });
  const giver = await newPayer(far.dev, 40n);
  await transfer(far, giver.address, order.address, 40n);
  const path = "on-chain-contract" as const;
  const paymentRef = referenceOf("pi_two_chains");
  const expiresAt = new Date(((await far.dev.chain.head()).timestamp + 900) * 1_000);
  const terms = { path, paymentRef, amount: 12n, expiresAt };
  const there = await openOrder(far, { ...terms, chain: "local-31338" });
  const here = await openOrder(near, { ...terms, chain: "local" });
  await payThroughRouter(far, await newPayer(far.dev, 12n), there);
  await until(async () => (await arrivalsOf(far, there.subject)).length === 1, "it arrives");
  await blocksPass(far);
  await blocksPass(near);
  for (const { subject } of [order, here]) expect(await arrivalsOf(near, subject)).toEqual([]);
  expect(await arrivalsOf(far, there.subject)).toMatchObject([{ chain: "local-31338", amount: 12n }]);
  await taker(far, there).turn();
  // nor does what waits to be taken on one wait on the other
  const waits = await openOrder(near, { chain: "local" });
  const sender = await newPayer(near.dev, 44n);
  await transfer(near, sender.address, waits.address, 44n);
  await until(async () => (await arrivalsOf(near, waits.subject)).length === 1, "it arrives");
  await atRest();
  await taker(near, waits).turn();
  await atRest();
});

async function payOut(on: World, id: string, amount = 1_000n): Promise<void> {
  const to = { chainId: on.dev.anvil.chainId, token: on.dev.usdc, recipient: newKey().address, amount };
  const order = { id, kind: "payout", merchantId: merchant.id, ...to } as const;
  await near.database.db.tx((tx) => near.house.facilitator.outgoing.queue(tx, order));
}
const stateOfOrder = async (id: string) => (await near.house.facilitator.outgoing.status([id]))[0]?.state;
const leaves = (id: string) =>
  until(async () => ["sent", "final"].includes((await stateOfOrder(id)) ?? ""), `${id} leaves`);

it("what is on its way out of one treasury takes nothing from the other", async () => {
  await pay(near, { dollars: 1n });
  await pay(far);
  await atRest();
  await withMiningHeld(near, async () => {
    await payOut(near, "po_held", 500_000n);
    await until(async () => (await stateOfOrder("po_held")) === "sending", "it is on its way");
    await payOut(far, "po_free");
    await leaves("po_free");
  });
  await near.dev.anvil.mine();
  await atRest();
});

describe.each(["near", "far"] as const)("what leaves the %s treasury by no order of ours", (name) => {
  it("stops what leaves there, and nothing elsewhere", async () => {
    const [there, elsewhere] = name === "near" ? [near, far] : [far, near];
    const slugOf = ({ dev }: World) => rowOf(dev).slug;
    await transfer(there, there.dev.contracts.treasury.address, newKey().address, 7n);
    await until(async () => (await near.house.operate.strayOutflows()).length === 1, "it is seen");
    const [stray] = await near.house.operate.strayOutflows();
    if (!stray) throw new Error("it was seen");
    await payOut(there, `po_stopped_${name}`);
    await payOut(elsewhere, `po_beside_${name}`);
    await leaves(`po_beside_${name}`);
    await blocksPass(there);
    await blocksPass(elsewhere);
    expect(await stateOfOrder(`po_stopped_${name}`)).toBe("queued");
    const compared = await near.house.reconcile();
    expect(compared.filter(({ status }) => status !== "equal")).toMatchObject([
      { asset: `USDC@${slugOf(there)}`, place: "treasury", unexplained: 1 },
    ]);
    const word = { merchantId: null, reason: "to the bank" };
    const wrong = { ...stray, chain: slugOf(elsewhere) };
    expect(await near.house.operate.bookOutflow(wrong, word)).toBe("not-stray");
    expect(await near.house.operate.bookOutflow(stray, word)).toBeNull();
    await near.house.reconcile();
    await leaves(`po_stopped_${name}`);
    await atRest();
  });
});

it("a payer who fails on one rests there alone", async () => {
  const payer: Payer = await newPayer(near.dev, 10_000n);
  for (const failures of [1, 2, 3]) {
    await far.dev.administer("mint", [payer.address, 10_000n]);
    await failOnChain(far, faults, await newPayment(far, merchant, { payer }));
    await until(async () => {
      const [row] = await far.database.query<{ failures: number }>(
        "SELECT failures FROM payer_gas WHERE payer = decode($1, 'hex') AND chain_id = 31338",
        [payer.address.slice(2)],
      );
      return row?.failures === failures;
    }, `failure ${failures} is booked`);
  }
  await far.dev.administer("mint", [payer.address, 10_000n]);
  expect(await (await newPayment(far, merchant, { payer })).settle()).toMatchObject({
    status: 429,
    body: { budget: "rest" },
  });
  await pay(near, { payer });
  await atRest();
});
