/** What left an order's own address by no sweep of ours: it is told of, an operator books it, and books and chain are equal
 *  again; turn by turn on a made-up chain. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookOutflow, defaultSettings, reconcileAll, strayOutflows } from "#facilitator";
import { type Address, type Hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { merchantBalances, trialBalance } from "#ledger";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { newKey } from "../../../support/authorization.ts";
import {
  newOrder,
  type OrderPlace,
  openOrder,
  sweepsOf,
  type TestOrder,
  taker,
} from "../../../support/deposits.ts";
import { ledgerOf } from "../../../support/records.ts";
import { treasuryOf } from "../../../support/simulated-treasury.ts";

const USDC = "USDC@local";
const OURS = { merchantId: null, reason: "moved by hand" };
let world: SimulatedWorld;
let place: OrderPlace;
let order: TestOrder;
const { blocks, carriedOut, earned } = treasuryOf(() => world);
beforeEach(async () => {
  world = await simulateWorld();
  sweepsWait(0);
  place = { database: world.database, house: world.running };
  await blocks(4);
  await earned(1_000n);
  const expiresAt = new Date(world.clock.now().getTime() + 900_000);
  order = await openOrder(place, newOrder({ expiresAt }));
});
afterEach(() => world.close());

/** For company. */
function sweepsWait(seconds: number): void {
  const sweepPatienceSeconds = { local: seconds, elsewhere: seconds };
  Object.assign(world.engine, { settings: { ...defaultSettings, sweepPatienceSeconds } });
}
/** They come to the order's address, in a block each. */
async function came(...amounts: readonly bigint[]): Promise<void> {
  for (const amount of amounts) {
    world.sim.transfer(tokens.USDC, world.payer(tokens.USDC, amount).address, order.address, amount);
    await blocks(1);
  }
}
const taken = () => taker(place, order).turn();
/** Moved by hand. */
const moved = (amount: bigint, to: Address, from = order.address) =>
  world.sim.transfer(tokens.USDC, from, to, amount);
/** A sweep of another life of these books. */
const swept = (value: bigint, seq: number) =>
  carriedOut({ from: order.address, to: world.row.treasury, value, nonce: nonceOf(seq) });
function nonceOf(seq: number): Hash {
  const uint = (value: number) => Buffer.from(value.toString(16).padStart(64, "0"), "hex");
  const { chainId } = world.row;
  return sha256("farebox/sweep/v1", uint(chainId), toBytes(tokens.USDC), toBytes(order.address), uint(seq));
}

const strays = () => strayOutflows(world.engine);
async function theStray() {
  const [stray, ...more] = await strays();
  if (!stray || more.length > 0) throw new Error("one was told of");
  return stray;
}
const different = async () =>
  (await reconcileAll(world.engine)).filter(({ status }) => status === "different").map(({ place }) => place);
const sweeps = async () =>
  (await sweepsOf(place, order.address)).map(({ seq, amount, state }) => [seq, amount, state]);
/** What may be swept is, and final. */
async function sweepsEnd(): Promise<void> {
  for (const count of [1, 3]) await blocks(count);
}
const available = async () =>
  (await merchantBalances(world.database.db.pool, "mer_1")).find(({ path }) => path.endsWith(":available"))
    ?.posted;
async function balanceOf(path: string): Promise<bigint> {
  const accounts = await trialBalance(world.database.db.pool);
  return accounts.find((row) => row.path === path && row.asset === USDC)?.posted ?? 0n;
}

describe("what went elsewhere", () => {
  it("is booked on whom an operator names, and the rest is swept", async () => {
    await came(44n);
    const stranger = newKey().address;
    moved(4n, stranger);
    await blocks(1);
    const stray = await theStray();
    expect(stray).toMatchObject({ amount: 4n, sender: order.address, recipient: stranger });
    expect(await bookOutflow(world.engine, stray, OURS)).toBe("not-final");
    await blocks(2);
    expect(await different()).toEqual(["deposits"]);
    await taken();
    const before = (await available()) ?? 0n;
    // two operators at once
    const said = { ...OURS, merchantId: "mer_1" };
    const booked = await Promise.all([said, said].map((word) => bookOutflow(world.engine, stray, word)));
    expect(new Set(booked)).toEqual(new Set([null, "not-stray"]));
    expect([await available(), await strays(), await different()]).toEqual([before - 4n, [], []]);
    expect(await ledgerOf(world.database, stray.transaction)).toEqual(["single out merchant → deposit 4"]);
    expect(await bookOutflow(world.engine, stray, OURS)).toBe("not-stray");
    // and what comes late, to an address that nobody watches any more, is no difference
    await world.database.query("UPDATE deposit_order SET watched_until = to_timestamp(0)");
    world.sim.mint(tokens.USDC, order.address, 100n);
    expect(await different()).toEqual([]);
    await sweepsEnd();
    expect([await sweeps(), await different()]).toEqual([[[0, "40", "final"]], []]);
    await came(10n);
    await blocks(2);
    expect(await different()).toEqual([]);
  });
});

describe("what went into the treasury", () => {
  it("is the sweep that it was, and nobody has less for it", async () => {
    await came(44n);
    moved(44n, world.row.treasury);
    await blocks(1);
    const stray = await theStray();
    expect(stray).toMatchObject({ amount: 44n, sender: order.address, recipient: world.row.treasury });
    expect(await bookOutflow(world.engine, stray, OURS)).toBe("not-final");
    await blocks(2);
    await taken();
    expect([await different(), await balanceOf("liability:unmatched")]).toEqual([["deposits"], 44n]);
    const book = (word: typeof OURS | { merchantId: string; reason: string }) =>
      bookOutflow(world.engine, stray, word);
    const postedForGood = (isIt: boolean) =>
      world.database.query("UPDATE chain_transfer SET booked_final = $1 WHERE claimed_kind = 'unmatched'", [
        isIt,
      ]);
    await postedForGood(false);
    expect(await book(OURS)).toBe("not-final");
    await postedForGood(true);
    expect(await book({ ...OURS, merchantId: "mer_1" })).toBe("nobodys-loss");
    expect(await book(OURS)).toBeNull();
    expect(await ledgerOf(world.database, stray.transaction)).toEqual([
      "pending in treasury → unmatched 44",
      "post in treasury → unmatched 44",
      "single sweep unmatched → deposit 44",
    ]);
    expect([await strays(), await different(), await sweeps()]).toEqual([[], [], []]);
    // what comes after it is swept as ever
    for (const amount of [6n, 5n]) {
      await came(amount);
      await taken();
      await blocks(2);
      await sweepsEnd();
    }
    expect(await sweeps()).toEqual([
      [0, "6", "final"],
      [1, "5", "final"],
    ]);
    expect(await different()).toEqual([]);
  });

  it("is the sweep, too, that was signed here for another amount meanwhile", async () => {
    sweepsWait(3_600);
    await came(44n, 6n);
    await taken();
    await blocks(2);
    expect(await sweeps()).toEqual([[0, "50", "claimed"]]);
    await world.database.query(
      `INSERT INTO reconciliation (chain_id, asset, block_number, status, ledger, unexplained)
       VALUES ($1, $2, 0, 'different', 0, 1)`,
      [world.row.chainId, USDC],
    );
    // given the one that was signed before a fail-over to a replica which lagged
    await swept(44n, 0);
    await blocks(1);
    expect([await sweeps(), await strays()]).toEqual([[[0, "50", "failed-watch"]], []]);
    await blocks(2);
    expect([await sweeps(), await different()]).toEqual([[[0, "50", "cancelled"]], ["deposits"]]);
    expect(await bookOutflow(world.engine, await theStray(), OURS)).toBeNull();
    expect([await strays(), await different()]).toEqual([[], []]);
    sweepsWait(0);
    await sweepsEnd();
    expect([await sweeps(), await different()]).toEqual([
      [
        [0, "50", "cancelled"],
        [1, "6", "final"],
      ],
      [],
    ]);
  });

  it("is none where these books will know it as a sweep, also behind one that was booked", async () => {
    await came(10n);
    moved(4n, newKey().address);
    await blocks(3);
    expect(await different()).toEqual(["deposits"]);
    expect(await bookOutflow(world.engine, await theStray(), OURS)).toBeNull();
    // given books that were put back: what they swept is seen before they sign it
    await swept(6n, 0);
    await blocks(3);
    const [log] = await world.database.query<{ transaction: Hash; logIndex: number }>(
      `SELECT '0x' || encode(tx_hash, 'hex') AS transaction, log_index AS "logIndex"
       FROM chain_transfer WHERE amount = 6 AND claimed_kind = 'unmatched'`,
    );
    if (!log) throw new Error("it was seen");
    expect(await strays()).toEqual([]);
    expect(await bookOutflow(world.engine, { chain: "local", ...log }, OURS)).toBe("not-stray");
    await taken();
    await sweepsEnd();
    expect([await sweeps(), await strays(), await different()]).toEqual([[[0, "6", "final"]], [], []]);
  });

  it("stays unmatched as far as it came to the address when nobody watched it any more", async () => {
    await came(10n);
    await taken();
    await world.database.query("UPDATE deposit_order SET watched_until = to_timestamp(0)");
    world.sim.mint(tokens.USDC, order.address, 5n);
    moved(12n, world.row.treasury);
    moved(3n, world.row.treasury);
    await blocks(3);
    const isOfChain = (id: number) => world.database.query("UPDATE deposit_order SET chain_id = $1", [id]);
    await isOfChain(1); // an order of another chain: what comes to its address here is not seen
    expect(await strays()).toEqual([]);
    await isOfChain(world.row.chainId);
    expect(await strays()).toMatchObject([{ amount: 10n }, { amount: 3n }]);
    const [first, second] = await strays();
    if (!first || !second) throw new Error("both were told of");
    expect(await bookOutflow(world.engine, first, OURS)).toBeNull();
    expect([await strays(), await different()]).toEqual([[], []]);
    expect(await bookOutflow(world.engine, second, OURS)).toBe("not-stray");
    expect(await balanceOf("liability:unmatched")).toBe(5n);
  });
});

describe("what left for an order's address", () => {
  it("is gone from another order's, and is that order's to take", async () => {
    await came(9n);
    const other = await openOrder(place, newOrder({ expiresAt: order.expiresAt }));
    await blocks(1);
    moved(9n, other.address);
    await blocks(3);
    expect(await theStray()).toMatchObject({ amount: 9n, sender: order.address, recipient: other.address });
    expect(await different()).toEqual(["deposits"]);
    expect(await bookOutflow(world.engine, await theStray(), OURS)).toBeNull();
    expect([await strays(), await different()]).toEqual([[], []]);
    expect(await taker(place, other).turn()).toMatchObject({ booked: 1 });
    expect([await strays(), await different()]).toEqual([[], []]);
  });

  it.each(["before", "after"])("and out of the treasury is booked as gone %s it is taken", async (when) => {
    moved(9n, order.address, world.row.treasury);
    await blocks(1);
    if (when === "after") await taken();
    await blocks(2);
    expect(await different()).toContain("treasury");
    expect(await bookOutflow(world.engine, await theStray(), OURS)).toBeNull();
    expect([await strays(), await different()]).toEqual([[], []]);
    if (when === "before") await taken();
    expect([await strays(), await different()]).toEqual([[], []]);
    await sweepsEnd();
    expect([await sweeps(), await different()]).toEqual([[[0, "9", "final"]], []]);
  });
});
