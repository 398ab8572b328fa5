/** Deposits whose block leaves the chain: who booked them is told, and books what comes back. */
import { afterEach, describe, expect, it } from "vitest";
import type { Hash, Hex } from "#kernel/bytes";
import type { BlockRef } from "../../facilitator/chain/port.ts";
import { chainFaults } from "../support/chain-faults.ts";
import {
  arrivalsOf,
  onDepositAddresses,
  openOrder,
  payThroughRouter,
  signedTransfer,
  sweepsOf,
  taker,
} from "../support/deposits.ts";
import { books, newPayer, sharedWorld, until } from "../support/house.ts";
import { factsOf, ledgerOf, waitingForLocks } from "../support/records.ts";
import { expectAtRest, transfer, withMiningHeld } from "../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap });
afterEach(() => faults.clear());

const send = (raw: Hex) => world.dev.anvil.rpc<Hash>("eth_sendRawTransaction", [raw]);
/** The last block is replaced by an empty one; its transaction is gone from the pool as well. */
const reorg = () => world.dev.anvil.rpc("anvil_reorg", [1, []]);
/** A branch that replaces the real chain from `height` on, without anything of ours in it. */
function emptyBranchFrom(height: number) {
  const other = (hash: Hash) => `0xbb${hash.slice(4)}` as Hash;
  const onBranch = (block: BlockRef | null) =>
    block && block.number >= height
      ? {
          ...block,
          hash: other(block.hash),
          parentHash: block.number === height ? block.parentHash : other(block.parentHash),
        }
      : block;
  faults.set({
    head: (real) => async () => onBranch(await real.head()) as BlockRef,
    blockAt: (real) => async (number) => onBranch(await real.blockAt(number)),
    moneyLogs: (real) => (block, ours) =>
      block.number >= height ? Promise.resolve([]) : real.moneyLogs(block, ours),
  });
}
const arrival = async (subject: string) => (await arrivalsOf(world, subject))[0];
const isCanonical = (subject: string, wanted: boolean) =>
  until(async () => (await arrival(subject))?.isCanonical === wanted, `canonical: ${wanted}`);

describe("a deposit whose block leaves the chain", () => {
  it("is told, taken back, and booked anew under its new block when it is mined again", async () => {
    const order = await openOrder(world);
    const { subject } = order;
    const raw = await signedTransfer(world, order.address, 70n);
    const txHash = await send(raw);
    await isCanonical(subject, true);
    const taking = taker(world, order);
    await taking.turn();
    const first = await arrival(subject);
    const before = await onDepositAddresses(world);
    await withMiningHeld(world, async () => {
      await reorg();
      await isCanonical(subject, false);
      expect(await arrival(subject)).toMatchObject({ confirmations: 0, isFinal: false, isTaken: true });
      expect(await factsOf(world.database, subject)).toEqual(["deposit.changed", "deposit.changed"]);
      expect(await taking.turn()).toEqual({ booked: 0, takenBack: 1 });
      expect(await onDepositAddresses(world)).toBe(before - 70n);
      await send(raw);
      await world.dev.anvil.mine();
    });
    await isCanonical(subject, true);
    // the old block's row is no longer shown
    const seen = await arrivalsOf(world, subject);
    expect(seen).toMatchObject([{ txHash, ordinal: 0, isTaken: false, booking: 1 }]);
    expect(seen[0]?.blockHash).not.toBe(first?.blockHash);
    expect(await taking.turn()).toEqual({ booked: 1, takenBack: 0 });
    expect(await ledgerOf(world.database, subject)).toEqual([
      "single clearing deposit → clearing 70",
      "single clearing clearing → deposit 70",
      "single clearing deposit → clearing 70",
    ]);
    await expectAtRest(world);
    await until(async () => (await onDepositAddresses(world)) === 0n, "it is swept");
    await expectAtRest(world);
  });

  it("and comes back in that very block, is another booking", async () => {
    const order = await openOrder(world);
    const { subject } = order;
    const payer = await newPayer(world.dev, 81n);
    await transfer(world, payer.address, order.address, 81n);
    await isCanonical(subject, true);
    const taking = taker(world, order);
    await taking.turn();
    const { number } = await world.dev.chain.head();
    emptyBranchFrom(number);
    await isCanonical(subject, false);
    await taking.turn();
    faults.clear();
    await isCanonical(subject, true);
    expect(await arrival(subject)).toMatchObject({ isTaken: false, booking: 2 });
    // gone and back before anybody looked: what was booked is taken back and booked again
    await taking.turn();
    emptyBranchFrom(number);
    await isCanonical(subject, false);
    faults.clear();
    await isCanonical(subject, true);
    expect(await arrival(subject)).toMatchObject({ isTaken: false, booking: 3 });
    expect(await taking.turn()).toEqual({ booked: 1, takenBack: 1 });
    expect([...(await ledgerOf(world.database, subject))].sort()).toEqual([
      ...Array(2).fill("single clearing clearing → deposit 81"),
      ...Array(3).fill("single clearing deposit → clearing 81"),
    ]);
    await expectAtRest(world);
    await until(async () => (await onDepositAddresses(world)) === 0n, "it is swept");
    await expectAtRest(world);
  });

  it("is no difference between books and chain while nobody has taken it back", async () => {
    const order = await openOrder(world);
    const raw = await signedTransfer(world, order.address, 90n);
    await send(raw);
    await isCanonical(order.subject, true);
    const taking = taker(world, order);
    await taking.turn();
    await reorg();
    await isCanonical(order.subject, false);
    const { number } = await world.dev.chain.head();
    await until(async () => {
      await world.dev.anvil.mine();
      const [row] = await world.database.query<{ at: string }>("SELECT finalized_number AS at FROM observer");
      return Number(row?.at) >= number;
    }, "the other block is final");
    expect(await arrival(order.subject)).toMatchObject({ isCanonical: false, isFinal: false });
    const compared = async () =>
      (await world.house.reconcile()).find(({ place, asset }) => place === "deposits" && /USDC/.test(asset));
    expect(await compared()).toMatchObject({ status: "equal", ledger: 90n, waiting: -90n, onChain: 0n });
    await taking.turn();
    expect(await compared()).toMatchObject({ status: "equal", ledger: 0n, waiting: 0n });
    await expectAtRest(world);
  });

  it("is there as long as somebody who looked at it has not ended", async () => {
    const order = await openOrder(world);
    const { subject } = order;
    await send(await signedTransfer(world, order.address, 95n));
    await isCanonical(subject, true);
    const { arrivals } = world.house.facilitator.deposits;
    const isThere = { isCanonical: true, amount: 95n };
    await withMiningHeld(world, () =>
      world.database.db.tx(async (tx) => {
        expect(await arrivals(tx, [subject])).toMatchObject([isThere]);
        await reorg();
        await until(
          async () => (await waitingForLocks(world, '"observer"%for update')) > 0,
          "the reorganisation waits",
        );
        expect(await arrivals(tx, [subject])).toMatchObject([isThere]);
      }),
    );
    await isCanonical(subject, false);
    await expectAtRest(world);
  });

  it("through the router, is taken back from the treasury and never becomes unmatched", async () => {
    const order = await openOrder(world, { path: "on-chain-contract" });
    const payer = await newPayer(world.dev, order.amount);
    const txHash = await payThroughRouter(world, payer, order);
    await isCanonical(order.subject, true);
    const taking = taker(world, order);
    await taking.turn();
    const before = await books(world.dev, world.database);
    await reorg();
    await isCanonical(order.subject, false);
    await taking.turn();
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, treasury: before.treasury - order.amount });
    expect(after.treasury).toBe(after.chain);
    expect(await ledgerOf(world.database, txHash)).toEqual([]);
    await expectAtRest(world);
  });
});

describe("a sweep whose block leaves the chain", () => {
  it("is voided and lands again, by the same authorization", async () => {
    const order = await openOrder(world);
    const payer = await newPayer(world.dev, 33n);
    await transfer(world, payer.address, order.address, 33n);
    await isCanonical(order.subject, true);
    await taker(world, order).turn();
    await world.dev.anvil.mine(3);
    const rows = () => ledgerOf(world.database, order.orderId);
    await until(async () => (await rows()).length === 1, "it is swept");
    await withMiningHeld(world, async () => {
      await reorg();
      await until(async () => (await rows()).length === 2, "it is voided");
      expect(await onDepositAddresses(world)).toBe(33n);
    });
    await expectAtRest(world);
    expect(await rows()).toEqual([
      ...["pending sweep treasury → deposit 33", "void sweep treasury → deposit 33"],
      ...["pending sweep treasury → deposit 33", "post sweep treasury → deposit 33"],
    ]);
    expect(await sweepsOf(world, order.address)).toMatchObject([{ seq: 0, state: "final", open: false }]);
    expect(await onDepositAddresses(world)).toBe(0n);
  });
});
