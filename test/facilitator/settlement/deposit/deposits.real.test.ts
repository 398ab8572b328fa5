/** Money that payers send to an order: seen, told, taken once. */
import { sql } from "drizzle-orm";
import { recoverAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { address as addressOf, type Hash } from "#kernel/bytes";
import { packAggregate3 } from "../../../../facilitator/chain/evm/multicall.ts";
import { authorize, devDomain } from "../../../support/authorization.ts";
import {
  arrivalsOf,
  digestFor,
  newOrder,
  onDepositAddresses,
  openOrder,
  payThroughRouter,
  referenceOf,
  taker,
  transferData,
} from "../../../support/deposits.ts";
import { books, newPayer, rowOf, startWorld, until, type World } from "../../../support/house.ts";
import { factsOf, ledgerOf, waitingForLocks } from "../../../support/records.ts";
import { transfer } from "../../../support/scene.ts";

let world: World;
beforeAll(async () => {
  // no sweep comes between: those have tests of their own
  world = await startWorld({ settings: { sweepPatienceSeconds: { local: 3_600, elsewhere: 3_600 } } });
});
afterAll(() => world.stop());

const deposits = () => world.house.facilitator.deposits;
const arrived = (subject: string, howMany = 1) =>
  until(async () => (await arrivalsOf(world, subject)).length === howMany, `${howMany} arrivals`);
/** Whether books and chain agree, by asset and place. */
async function compared() {
  const reports = await world.house.reconcile();
  return reports.map(({ asset, place, status, waiting }) => ({ asset, place, status, waiting }));
}
/** The chain's final block is behind what was mined up to now; the books balance. Sweeps wait. */
async function allFinal() {
  const { number } = await world.dev.chain.head();
  await until(async () => {
    const [row] = await world.database.query<{ at: string }>("SELECT finalized_number AS at FROM observer");
    if (Number(row?.at) >= number) return true;
    await world.dev.anvil.mine();
    return false;
  }, "it is final");
  expect(await books(world.dev, world.database)).toMatchObject({ balanced: true });
}

describe("open", () => {
  it("gives each order an address of its own, signed by the operator for its deadline", async () => {
    const [one, two] = [await openOrder(world), await openOrder(world)];
    expect(one.address).not.toBe(two.address);
    const signer = (order: typeof one) => recoverAddress({ hash: digestFor(world, order), ...order });
    for (const order of [one, two]) {
      expect(order).toMatchObject({ payTo: order.address, token: world.dev.usdc });
      expect(addressOf(await signer(order))).toBe(world.dev.contracts.operator.address.toLowerCase());
      expect(order.deadline).toBe(BigInt(Math.floor(order.expiresAt.getTime() / 1000)));
    }
    const later = new Date(one.expiresAt.getTime() + 60_000);
    const again = await world.database.db.tx((tx) => deposits().resign(tx, one.orderId, later));
    expect(again).toMatchObject({ address: one.address, deadline: one.deadline + 60n });
    expect(again.signature).not.toBe(one.signature);
    expect(addressOf(await signer({ ...one, ...again }))).toBe(addressOf(await signer(one)));
  });

  it("names the router and the treasury for a payment through the contract", async () => {
    const order = await openOrder(world, { path: "on-chain-contract" });
    const { router, treasury } = rowOf(world.dev);
    expect(order).toMatchObject({ address: router, payTo: treasury });
  });

  it("does not give an address again whose transaction was undone", async () => {
    let undone = "";
    const failing = world.database.db.tx(async (tx) => {
      undone = (await deposits().open(tx, newOrder())).address;
      throw new Error("undone");
    });
    await expect(failing).rejects.toThrow("undone");
    expect((await openOrder(world)).address).not.toBe(undone);
  });

  it("watches it for ninety days from its last signature, unless nobody watched it any more", async () => {
    const order = await openOrder(world);
    const day = 86_400;
    const row = async () => {
      const [found] = await world.database.query<{ seconds: string; written: string }>(
        `SELECT extract(epoch FROM watched_until - now()) AS seconds, written_in AS written
         FROM deposit_order WHERE order_id = $1`,
        [order.orderId],
      );
      return { days: Number(found?.seconds) / day, written: Number(found?.written) };
    };
    const resignedAfter = async (left: string) => {
      await world.database.query(
        "UPDATE deposit_order SET watched_until = now() + $1::interval WHERE order_id = $2",
        [left, order.orderId],
      );
      const { written } = await row();
      await world.database.db.tx((tx) => deposits().resign(tx, order.orderId, order.expiresAt));
      const after = await row();
      // whoever watches it looks at it again
      expect(after.written).toBeGreaterThan(written);
      return after.days;
    };
    expect((await row()).days).toBeCloseTo(90, 1);
    expect(await resignedAfter("1 hour")).toBeCloseTo(90, 1);
    expect(await resignedAfter("100 days")).toBeCloseTo(100, 1);
    expect(await resignedAfter("-1 hour")).toBeCloseTo(-1 / 24, 1);
  });

  it("asserts that the rail is there; a chain may be gone", async () => {
    await expect(openOrder(world, { asset: "DAI" as "USDC" })).rejects.toThrow("is a rail of local");
    await expect(openOrder(world, { chain: "base" })).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});

describe("a transfer to an order's address", () => {
  it("is seen and told, waits for who asked for it, and is taken once", async () => {
    const order = await openOrder(world);
    const { subject } = order;
    const payer = await newPayer(world.dev, 1_000_000n);
    const before = await books(world.dev, world.database);
    const txHash = await transfer(world, payer.address, order.address, 1_000_000n);
    await arrived(subject);
    const [seen] = await arrivalsOf(world, subject);
    expect(seen).toMatchObject({
      ...{ subject, orderId: order.orderId, chain: "local", asset: "USDC", txHash, ordinal: 0 },
      ...{ sender: payer.address, amount: 1_000_000n, isCanonical: true, isTaken: false, booking: 1 },
    });
    expect(seen?.confirmations).toBeGreaterThan(0);
    expect(await factsOf(world.database, subject)).toEqual(["deposit.changed"]);
    // what is compared is the last final block: there it is not yet
    expect((await compared()).filter(({ status }) => status !== "equal")).toEqual([]);
    // nothing is booked: neither for the order nor as unmatched, and that is no difference
    await allFinal();
    expect((await arrivalsOf(world, subject))[0]).toMatchObject({ isFinal: true });
    expect(await books(world.dev, world.database)).toEqual(before);
    expect(await ledgerOf(world.database, txHash)).toEqual([]);
    expect(await compared()).toContainEqual({
      ...{ asset: "USDC@local", place: "deposits", status: "equal", waiting: 1_000_000n },
    });
    // when it is taken
    expect(await taker(world, order).turn()).toEqual({ booked: 1, takenBack: 0 });
    expect(await ledgerOf(world.database, subject)).toEqual(["single clearing deposit → clearing 1000000"]);
    expect((await arrivalsOf(world, subject))[0]).toMatchObject({ isTaken: true, booking: 1 });
    expect(await compared()).toContainEqual({
      ...{ asset: "USDC@local", place: "deposits", status: "equal", waiting: 0n },
    });
    // then never again
    const again = world.database.db.tx((tx) => deposits().take(tx, seen ? [seen] : []));
    await expect(again).rejects.toThrow("not taken yet");
    expect(await taker(world, order).turn()).toEqual({ booked: 0, takenBack: 0 });
  });

  it("is compared as of one moment, also when it is taken in the middle of it", async () => {
    const order = await openOrder(world);
    const payer = await newPayer(world.dev, 9n);
    await transfer(world, payer.address, order.address, 9n);
    await arrived(order.subject);
    await allFinal();
    const comparison = await world.database.db.tx(async (tx) => {
      await tx.execute(sql`LOCK TABLE ledger_balance IN ACCESS EXCLUSIVE MODE`);
      const begun = compared();
      await until(
        async () => (await waitingForLocks(world, "ledger_balance")) > 0,
        "what waits is known, and the books are asked",
      );
      await taker(world, order).turnIn(tx);
      return { begun };
    });
    expect(await comparison.begun).toContainEqual({
      ...{ asset: "USDC@local", place: "deposits", status: "equal", waiting: 9n },
    });
    expect(await compared()).toContainEqual({
      ...{ asset: "USDC@local", place: "deposits", status: "equal", waiting: 0n },
    });
  });

  it("of another token is an arrival of that token", async () => {
    const order = await openOrder(world);
    const { EURC } = world.dev.contracts.assets;
    const payer = await newPayer(world.dev, 0n);
    await world.dev.administer("mint", [payer.address, 7n], addressOf(EURC));
    await world.dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
    await world.dev.transact(payer.address, { to: EURC, data: transferData(order.address, 7n) });
    await arrived(order.subject);
    expect(await arrivalsOf(world, order.subject)).toMatchObject([{ asset: "EURC", amount: 7n }]);
    await allFinal();
    const eurc = { asset: "EURC@local", place: "deposits", status: "equal" };
    expect(await compared()).toContainEqual({ ...eurc, waiting: 7n });
    await taker(world, order).turn();
    expect(await ledgerOf(world.database, order.subject)).toEqual(["single unmatched deposit → unmatched 7"]);
    expect(await compared()).toContainEqual({ ...eurc, waiting: 0n });
  });

  it("is one of two in a transaction: told apart by their rank", async () => {
    const order = await openOrder(world);
    const payers = await Promise.all([newPayer(world.dev, 30n), newPayer(world.dev, 40n)]);
    const signed = await Promise.all(
      payers.map(({ key }, i) =>
        authorize({ domain: devDomain(world.dev.usdc), key, to: order.address, value: i === 0 ? 30n : 40n }),
      ),
    );
    const { multicall } = world.dev.chain.row;
    const data = packAggregate3(signed.map(({ call }) => call));
    await world.dev.transact(world.dev.contracts.payer.address, { to: multicall ?? "", data });
    await arrived(order.subject, 2);
    const both = await arrivalsOf(world, order.subject);
    expect(both.map(({ ordinal, amount }) => [ordinal, amount])).toEqual([
      [0, 30n],
      [1, 40n],
    ]);
    expect(new Set(both.map(({ txHash }) => txHash)).size).toBe(1);
    expect(await factsOf(world.database, order.subject)).toEqual(["deposit.changed"]);
    // each is booked by itself
    await taker(world, order).turn();
    expect(await ledgerOf(world.database, order.subject)).toEqual([
      "single clearing deposit → clearing 30",
      "single clearing deposit → clearing 40",
    ]);
  });

  it("is seen though its order was committed after one that came later", async () => {
    const early = newOrder();
    let commit = () => {};
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let opened: { address: string } | null = null;
    const slow = world.database.db.tx(async (tx) => {
      opened = await deposits().open(tx, early);
      await committed;
      return opened;
    });
    await until(async () => opened !== null, "the first has its address");
    const late = await openOrder(world);
    const payer = await newPayer(world.dev, 3n);
    await transfer(world, payer.address, late.address, 1n);
    await arrived(late.subject);
    commit();
    await transfer(world, payer.address, (await slow).address, 2n);
    await arrived(early.subject);
    for (const order of [late, early])
      await taker(world, { ...late, ...order, address: late.address }).turn();
  });

  it("of nothing is no transfer, and holds nothing up", async () => {
    const order = await openOrder(world);
    const payer = await newPayer(world.dev, 1n);
    await transfer(world, payer.address, order.address, 0n);
    const stray = await transfer(world, payer.address, rowOf(world.dev).treasury, 0n);
    await transfer(world, payer.address, order.address, 1n);
    await arrived(order.subject);
    await taker(world, order).turn();
    await allFinal();
    expect((await arrivalsOf(world, order.subject)).map(({ amount }) => amount)).toEqual([1n]);
    expect(await ledgerOf(world.database, stray)).toEqual([]);
  });
});

describe("a payment through the router", () => {
  it("reaches its order, is not booked as unmatched, and waits in the treasury", async () => {
    const order = await openOrder(world, { path: "on-chain-contract" });
    const payer = await newPayer(world.dev, order.amount);
    const txHash = await payThroughRouter(world, payer, order);
    await arrived(order.subject);
    expect(await arrivalsOf(world, order.subject)).toMatchObject([
      { txHash, sender: payer.address, amount: order.amount, asset: "USDC", ordinal: 0, isTaken: false },
    ]);
    expect(await factsOf(world.database, order.subject)).toEqual(["deposit.changed"]);
    await allFinal();
    expect(await ledgerOf(world.database, txHash)).toEqual([]);
    const treasury = { asset: "USDC@local", place: "treasury", status: "equal" };
    expect(await compared()).toContainEqual({ ...treasury, waiting: order.amount });
    const onAddresses = await onDepositAddresses(world);
    await taker(world, order).turn();
    expect(await ledgerOf(world.database, order.subject)).toEqual([
      `single clearing treasury → clearing ${order.amount}`,
    ]);
    expect(await compared()).toContainEqual({ ...treasury, waiting: 0n });
    const taken = "SELECT claimed_kind FROM chain_transfer WHERE order_id = $1";
    expect(await world.database.query(taken, [order.orderId])).toEqual([{ claimed_kind: "routed" }]);
    await allFinal();
    expect(await onDepositAddresses(world)).toBe(onAddresses);
  });

  it("belongs to the order that asked for exactly it, where an intent had several", async () => {
    const paymentRef = referenceOf("pi_several");
    const path = "on-chain-contract" as const;
    const [first, second] = [
      await openOrder(world, { path, paymentRef, amount: 10n }),
      await openOrder(world, { path, paymentRef, amount: 11n }),
    ];
    await payThroughRouter(world, await newPayer(world.dev, 11n), second);
    await arrived(second.subject);
    expect(await arrivalsOf(world, first.subject)).toEqual([]);
    await taker(world, second).turn();
  });

  it("belongs to the newest of those that asked for the same: it is the one that was shown", async () => {
    const asked = { path: "on-chain-contract" as const, paymentRef: referenceOf("pi_again"), amount: 13n };
    const [replaced, shown] = [await openOrder(world, asked), await openOrder(world, asked)];
    await payThroughRouter(world, await newPayer(world.dev, 13n), replaced);
    await arrived(shown.subject);
    expect(await arrivalsOf(world, replaced.subject)).toEqual([]);
    await taker(world, shown).turn();
  });

  it("of a reference that nobody registered is unmatched money", async () => {
    const order = await openOrder(world, { path: "on-chain-contract", amount: 12n });
    await world.database.query("DELETE FROM deposit_order WHERE order_id = $1", [order.orderId]);
    const txHash = await payThroughRouter(world, await newPayer(world.dev, 12n), order);
    await until(async () => (await ledgerOf(world.database, txHash)).length > 0, "it is booked");
    expect(await ledgerOf(world.database, txHash)).toEqual(["pending in treasury → unmatched 12"]);
    await allFinal();
  });
});

describe("take", () => {
  it("asserts that all logs are there, and books none if one is not", async () => {
    const order = await openOrder(world);
    const payer = await newPayer(world.dev, 5n);
    await transfer(world, payer.address, order.address, 5n);
    await arrived(order.subject);
    const [real] = await arrivalsOf(world, order.subject);
    if (!real) throw new Error("it has arrived");
    const unknown = { ...real, blockHash: `0x${"9".repeat(64)}` as Hash };
    for (const logs of [
      [real, unknown],
      [real, real],
    ]) {
      const taking = world.database.db.tx((tx) => deposits().take(tx, logs));
      await expect(taking).rejects.toThrow("not taken yet");
    }
    const isOnChain = (canonical: boolean) =>
      world.database.query("UPDATE chain_transfer SET canonical = $1 WHERE order_id = $2", [
        canonical,
        order.orderId,
      ]);
    await isOnChain(false);
    const taking = world.database.db.tx((tx) => deposits().take(tx, [real]));
    await expect(taking).rejects.toThrow("not taken yet");
    await isOnChain(true);
    expect(await arrivalsOf(world, order.subject)).toMatchObject([{ isTaken: false, booking: 1 }]);
    await taker(world, order).turn();
  });
});
