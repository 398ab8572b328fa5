/** A token that is listed while its chain is followed, block by block on a made-up chain. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Address, address } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { firstRecorded, followedTokens } from "../../../../facilitator/settlement/observer/followed.ts";
import { observer } from "../../../../facilitator/settlement/observer/tables.ts";
import { reconcile } from "../../../../facilitator/settlement/treasury/reconcile.ts";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import { treasuryOf } from "../../../support/simulated-treasury.ts";

const USDG = address(`0x${"c3".repeat(20)}`);
let world: SimulatedWorld;
const { blocks } = treasuryOf(() => world);
beforeEach(async () => {
  world = await simulateWorld();
  await blocks(4);
});
afterEach(() => world.close());

const listed = () => world.row.tokens as unknown as { symbol: string; contract: Address }[];
function list(symbol: string, contract = USDG): void {
  const [usdc] = listed();
  if (!usdc) throw new Error("a world without a token");
  listed().push({ ...usdc, symbol, contract });
}
const opened = () =>
  world.database.query<{ asset: string; amount: string }>(
    `SELECT asset, amount FROM ledger_transfer WHERE event_key LIKE 'treasury-opening:%'
     ORDER BY posted_at, asset`,
  );
const view = async () => {
  const [at] = await world.database.db.pool.select().from(observer);
  if (!at) throw new Error("nobody follows the chain");
  return at;
};
const isFollowed = async () => (await followedTokens(world.database.db.pool, 31_337)).includes(USDG);
const compared = async () => {
  const [open] = world.engine.chains.values();
  if (!open) throw new Error("a world without a chain");
  return (await reconcile(world.engine, open)).map(({ asset, status }) => `${asset} ${status}`);
};
/** Somebody sends it to the treasury. */
function sends(amount: bigint): void {
  world.sim.transfer(USDG, world.payer(USDG, amount).address, world.row.treasury, amount);
}

it("begins with what lay there, once that has rested from the final block to the cursor", async () => {
  sends(7n);
  await blocks(1);
  list("USDG");
  await blocks(1);
  expect([await isFollowed(), await opened()]).toEqual([false, []]);
  for (let i = 0; i < 2; i += 1) await blocks(1);
  expect([await isFollowed(), await opened()]).toEqual([true, [{ asset: "USDG@local", amount: "7" }]]);
  expect(await compared()).toContain("USDG@local equal");
  const began = await view();
  // and from the next block on what comes is seen, once, as in every other token
  sends(5n);
  world.sim.transfer(tokens.USDC, world.payer(tokens.USDC, 3n).address, world.row.treasury, 3n);
  await blocks(4);
  expect(await opened()).toHaveLength(1);
  expect(await compared()).toEqual(["USDC@local equal", "EURC@local equal", "USDG@local equal"]);
  const at = await view();
  const { pool } = world.database.db;
  expect(await firstRecorded(pool, at, USDG)).toBe(began.cursorNumber + 1);
  expect(await firstRecorded(pool, at, tokens.USDC)).toBe(at.startBlock + 1);
  expect(await firstRecorded(pool, { ...at, chainId: 1, startBlock: 90 }, USDG)).toBe(91);
  expect(await followedTokens(pool, 1)).toEqual([]);
});

it("does not begin with what a contract does not tell", async () => {
  const { chain } = world.sim;
  const real = chain.tokenBalance;
  chain.tokenBalance = (token, ...asked) =>
    token === USDG ? Promise.reject(fault("chain_unavailable", { chain: "local" })) : real(token, ...asked);
  world.sim.mint(USDG, world.row.treasury, 7n);
  list("USDG");
  await blocks(2);
  expect([await isFollowed(), await opened()]).toEqual([false, []]);
  chain.tokenBalance = real;
  await blocks(1);
  expect(await opened()).toMatchObject([{ amount: "7" }]);
});

it("that takes the name of another one does not add to its books: the comparison tells", async () => {
  world.sim.mint(tokens.EURC, world.row.treasury, 3n);
  await world.database.query("DELETE FROM followed_token WHERE token = $1", [
    Buffer.from(tokens.EURC.slice(2), "hex"),
  ]);
  await blocks(1);
  await world.turn(6_000); // what is followed is read again with the lease
  await blocks(1);
  expect(await opened()).toMatchObject([{ asset: "EURC@local", amount: "3" }]);
  listed().splice(1, 1);
  world.sim.mint(USDG, world.row.treasury, 9n);
  list("EURC");
  await blocks(1);
  expect([await isFollowed(), await opened()]).toMatchObject([true, [{ amount: "3" }]]);
  await blocks(3);
  expect(await compared()).toContain("EURC@local different");
});

it("is not begun by who follows the chain no more", async () => {
  const { chain } = world.sim;
  const real = chain.tokenBalance;
  chain.tokenBalance = async (token, ...asked) => {
    if (token === USDG) await world.database.query("UPDATE observer SET fence = fence + 1");
    return real(token, ...asked);
  };
  world.sim.mint(USDG, world.row.treasury, 7n);
  list("USDG");
  await blocks(1);
  expect([await isFollowed(), await opened()]).toEqual([false, []]);
});
