/** What left the treasury, and which of it are orders of ours that nobody here has signed, turn by turn on a made-up chain. */
import { sql } from "drizzle-orm";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { afterRestore, bookOutflow, createFacilitator, health, strayOutflows } from "#facilitator";
import type { Address, Hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { merchantBalances } from "#ledger";
import type { Database } from "#store";
import { databaseOn } from "../../../../facilitator/store/db.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newKey } from "../../../support/authorization.ts";
import { newOrder, openOrder } from "../../../support/deposits.ts";
import { until } from "../../../support/house.ts";
import { ledgerOf, waitingForLocks } from "../../../support/records.ts";
import { type SentOrder, treasuryOf } from "../../../support/simulated-treasury.ts";

const USDC = "USDC@local";
let world: SimulatedWorld;
const { blocks, carriedOut, earned, queued, stateOf } = treasuryOf(() => world);
beforeEach(async () => {
  world = await simulateWorld();
  await blocks(4);
  await earned(1_000n);
});
afterEach(() => world.close());

const cancel = ({ id }: SentOrder) =>
  world.database.db.tx((tx) => world.running.facilitator.outgoing.cancel(tx, id));
const available = async () =>
  (await merchantBalances(world.database.db.pool, "mer_1")).find(({ path }) => path.endsWith(":available"))
    ?.posted;

/** The treasury's own authorization of an order is carried out, as it was before these books were put back. */
const hasLeft = ({ id, amount: value, recipient: to }: SentOrder) =>
  carriedOut({ from: world.row.treasury, to, value, nonce: sha256("farebox/outgoing/v1", id) });
/** Something leaves that is no authorization. */
const transferred = ({ amount, recipient }: Omit<SentOrder, "id">) =>
  world.sim.transfer(tokens.USDC, world.row.treasury, recipient, amount);
const held = ({ recipient }: Pick<SentOrder, "recipient">) => world.sim.balance(tokens.USDC, recipient);
const strays = () => strayOutflows(world.engine);

/** A process that has the treasury's key only from now on. */
function withoutKey(): () => void {
  const [open] = world.engine.chains.values();
  if (!open) throw new Error("a world without a chain");
  const { custodian } = open;
  Object.assign(open, { custodian: null });
  return () => void Object.assign(open, { custodian });
}

/** The same database, where something happens between the first look of a reader and the second. */
function whereBetweenLooks(happens: () => Promise<void>): Database {
  const pool = new pg.Pool({ connectionString: world.database.url, max: 1 });
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  let looks = 0;
  const counted = async (...args: unknown[]) => {
    looks += 1;
    if (looks === 2) await happens();
    return query(...args);
  };
  return databaseOn(Object.assign(pool, { query: counted }) as unknown as pg.Pool);
}

describe("an order that left before the books were put back", () => {
  it("is not taken back any more once that is seen, and follows it when it can be signed", async () => {
    const giveKey = withoutKey();
    const order = await queued();
    const before = await available();
    await hasLeft(order);
    await blocks(1);
    expect([await stateOf(order), await strays()]).toEqual(["queued", []]);
    const [left] = await world.database.query<{ hash: Hash }>(
      "SELECT '0x' || encode(tx_hash, 'hex') AS hash FROM chain_transfer WHERE amount = 5",
    );
    if (!left) throw new Error("it was seen");
    const ref = { chain: "local", transaction: left.hash, logIndex: 1 }; // behind its authorization's
    expect(await bookOutflow(world.engine, ref, { merchantId: null, reason: "unknown" })).toBe("not-stray");
    expect(await cancel(order)).toBe(false);
    expect(await available()).toBe(before);
    giveKey();
    await blocks(3);
    expect([await stateOf(order), held(order), await strays()]).toEqual(["final", 5n, []]);
  });

  it("is told of to no operator who looks just when it is signed", async () => {
    const giveKey = withoutKey();
    const order = await queued();
    await hasLeft(order);
    await blocks(1);
    const loopDb = whereBetweenLooks(async () => {
      giveKey();
      await blocks(1);
    });
    expect(await strayOutflows({ ...world.engine, loopDb })).toEqual([]);
    expect(await stateOf(order)).not.toBe("queued");
    await loopDb.close();
  });

  it("and is here again, since its block left the chain, can be taken back", async () => {
    withoutKey();
    const order = await queued();
    await hasLeft(order);
    await blocks(1);
    world.sim.fork(1, () => true);
    await blocks(1);
    expect(await cancel(order)).toBe(true);
  });

  it("is not taken back before the chain has been followed to its head again, nor is any other", async () => {
    withoutKey();
    const order = await queued();
    const other = await queued({ id: "po_2" });
    await world.running.stop();
    await hasLeft(order);
    world.sim.mine(1);
    expect(await afterRestore(world.engine)).not.toBeNull();
    expect([await cancel(order), await cancel(other)]).toEqual([false, false]);
    const again = createFacilitator(world.engine);
    again.start({ moneyLoops: true });
    try {
      await world.turn();
      expect([await cancel(order), await cancel(other)]).toEqual([false, true]);
    } finally {
      await again.stop();
    }
  });

  it("and was taken back before that was seen is an operator's to book", async () => {
    const order = await queued();
    expect(await cancel(order)).toBe(true);
    await hasLeft(order);
    await blocks(4);
    expect([await stateOf(order), await strays()]).toMatchObject(["cancelled", [{ amount: 5n }]]);
    expect(await ledgerOf(world.database, order.id)).toHaveLength(2);
  });

  it("waits for no approval, and for no room in the day", async () => {
    (world.row.approvalsAbove as Map<Address, bigint>).set(tokens.USDC, 4n);
    (world.row.dailyLimits as Map<Address, bigint>).set(tokens.USDC, 3n);
    const order = await queued();
    const other = await queued({ id: "po_2" });
    await hasLeft(order);
    for (const count of [1, 3, 1]) await blocks(count);
    expect([await stateOf(order), await stateOf(other)]).toEqual(["final", "queued"]);
    expect((await health(world.engine)).chains[0]).toMatchObject({ unapproved: [USDC], limited: [] });
  });
});

describe("a transfer out that is like an order that waits", () => {
  it("is none of it, and is not paid a second time for it", async () => {
    const giveKey = withoutKey();
    const order = await queued();
    transferred(order);
    await blocks(4);
    giveKey();
    await blocks(4);
    expect([await stateOf(order), held(order)]).toEqual(["queued", 5n]);
    expect(await strays()).toMatchObject([{ amount: 5n, recipient: order.recipient }]);
    expect(await cancel(order)).toBe(true);
  });
});

describe("a transfer out that nothing explains", () => {
  it("stops nothing once its block has left the chain", async () => {
    const giveKey = withoutKey();
    transferred({ amount: 7n, recipient: newKey().address });
    await blocks(1);
    expect(await strays()).toHaveLength(1);
    world.sim.fork(1, () => true);
    await blocks(1);
    expect(await strays()).toEqual([]);
    giveKey();
    const order = await queued();
    await blocks(1);
    await blocks(3);
    expect([await stateOf(order), held(order)]).toEqual(["final", 5n]);
  });

  it("is one, too, where an authorization of ours moved something else, for good", async () => {
    const order = await queued();
    const elsewhere = { ...order, amount: 6n, recipient: newKey().address };
    await hasLeft(elsewhere); // it is mined first
    await world.turn();
    await blocks(1);
    expect([await stateOf(order), await strays()]).toEqual(["sending", []]);
    await blocks(4);
    expect(await stateOf(order)).toBe("failed");
    expect(await strays()).toMatchObject([{ amount: 6n, recipient: elsewhere.recipient }]);
  });

  it("is told of in the order in which it left, with nothing that came, and each is booked by itself", async () => {
    const [first, second] = [newKey().address, newKey().address];
    const { database, running, clock, sim } = world;
    const expiresAt = new Date(clock.now().getTime() + 900_000);
    const { address } = await openOrder({ database, house: running }, newOrder({ expiresAt }));
    transferred({ amount: 9n, recipient: first });
    sim.transfer(tokens.USDC, world.payer(tokens.USDC, 3n).address, address, 3n);
    await blocks(1);
    transferred({ amount: 8n, recipient: second });
    transferred({ amount: 7n, recipient: second });
    await blocks(3);
    const [one, two, three] = await strays();
    expect([one, two, three]).toMatchObject([{ amount: 9n }, { amount: 8n }, { amount: 7n }]);
    if (!one || !two) throw new Error("they were told of");
    const word = { merchantId: "mer_1", reason: "asked for" };
    const before = (await available()) ?? 0n;
    // the first of each block have the same place in it
    expect(one.logIndex).toBe(two.logIndex);
    expect(await bookOutflow(world.engine, two, word)).toBeNull();
    expect(await available()).toBe(before - 8n);
    expect(await strays()).toEqual([one, three]);
    expect(await bookOutflow(world.engine, two, word)).toBe("not-stray");
  });

  it("is booked from its final block on", async () => {
    transferred({ amount: 7n, recipient: newKey().address });
    await blocks(1);
    const [stray] = await strays();
    if (!stray) throw new Error("it was told of");
    const book = () => bookOutflow(world.engine, stray, { merchantId: null, reason: "to the bank" });
    expect(await book()).toBe("not-final");
    await blocks(1);
    expect(await book()).toBe("not-final");
    await blocks(1);
    expect(await book()).toBeNull();
  });

  it("is booked when its token is listed: till then it has no name in the books", async () => {
    transferred({ amount: 7n, recipient: newKey().address });
    await blocks(4);
    const [stray] = await strays();
    if (!stray) throw new Error("it was told of");
    const listed = world.row.tokens as unknown as { symbol: string }[];
    const gone = listed.splice(
      listed.findIndex(({ symbol }) => symbol === "USDC"),
      1,
    );
    const book = () => bookOutflow(world.engine, stray, { merchantId: null, reason: "to the bank" });
    expect([await strays(), await book()]).toEqual([[stray], "token-not-listed"]);
    listed.push(...gone);
    expect(await book()).toBeNull();
  });

  it("is booked by nobody while its block leaves the chain, and nobody waits for the other in vain", async () => {
    transferred({ amount: 7n, recipient: newKey().address });
    await blocks(1);
    const [stray] = await strays();
    if (!stray) throw new Error("it was told of");
    const { booking } = await world.database.db.tx(async (tx) => {
      await tx.execute(sql`SELECT FROM observer FOR UPDATE`);
      const booking = bookOutflow(world.engine, stray, { merchantId: null, reason: "to the bank" });
      await until(async () => (await waitingForLocks(world, '"observer"')) > 0, "it waits for the view");
      await tx.execute(sql`UPDATE chain_transfer SET canonical = false`);
      return { booking };
    });
    expect(await booking).toBe("not-stray");
  });
});
