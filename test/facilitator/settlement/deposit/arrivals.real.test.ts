/** What reached an order, as the chain says now, block by block on a made-up chain. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import {
  arrivalsOf,
  newOrder,
  type OrderPlace,
  openOrder,
  type TestOrder,
  taker,
} from "../../../support/deposits.ts";

let world: SimulatedWorld;
let place: OrderPlace;
let order: TestOrder;
beforeEach(async () => {
  world = await simulateWorld();
  place = { database: world.database, house: world.running };
  await blocks(1);
  const expiresAt = new Date(world.clock.now().getTime() + 900_000);
  order = await openOrder(place, newOrder({ expiresAt }));
});
afterEach(() => world.close());

/** So many blocks, and what they leave to do. */
async function blocks(count: number): Promise<void> {
  world.sim.mine(count);
  for (let i = 0; i < 3; i += 1) await world.turn();
}
function pay(amount: bigint): void {
  const { sim } = world;
  sim.transfer(tokens.USDC, world.payer(tokens.USDC, amount).address, order.address, amount);
}
const arrivals = () => arrivalsOf(place, order.subject);

it("counts its own block as the first, and is final with the block that the chain says is", async () => {
  pay(5n);
  const seen: unknown[] = [];
  for (let i = 0; i < 4; i += 1) {
    await blocks(1);
    const [arrival] = await arrivals();
    seen.push([arrival?.confirmations, arrival?.isFinal]);
  }
  expect(seen).toEqual([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
  ]);
});

it("is none, and never final, once it has left the chain for good, though its height is final", async () => {
  pay(5n);
  await blocks(1);
  const [before] = await arrivals();
  world.sim.fork(1, () => true);
  await blocks(4);
  expect(await arrivals()).toMatchObject([
    { ...before, isCanonical: false, confirmations: 0, isFinal: false, isTaken: false, booking: 1 },
  ]);
});

it("is told where it is now, and once", async () => {
  pay(7n);
  await blocks(1);
  const [before] = await arrivals();
  world.sim.fork(1);
  await blocks(1);
  const now = await arrivals();
  expect(now).toMatchObject([{ txHash: before?.txHash, isCanonical: true, amount: 7n }]);
  expect(now[0]?.blockHash).not.toBe(before?.blockHash);
});

it("stays where it is while a transaction has looked at it: whoever turns to another branch waits", async () => {
  const { database, running } = world;
  const turns = () => database.query("SELECT FROM observer FOR UPDATE NOWAIT");
  await database.db.tx(async (tx) => {
    expect(await turns()).toHaveLength(1);
    await running.facilitator.deposits.arrivals(tx, [order.subject]);
    await expect(turns()).rejects.toThrow("could not obtain lock");
  });
  expect(await turns()).toHaveLength(1);
});

it("those of an order are told oldest first, whatever their transactions are called", async () => {
  const sent = [3n, 1n, 4n, 2n, 9n, 5n, 8n, 6n];
  for (const amount of sent.slice(0, 4)) pay(amount);
  await blocks(1);
  for (const amount of sent.slice(4)) pay(amount);
  await blocks(1);
  expect((await arrivals()).map(({ amount }) => amount)).toEqual(sent);
});

it("is booked under another number each time its block comes back", async () => {
  pay(5n);
  await blocks(1);
  const { turn } = taker(place, order);
  const numbers = async () => (await arrivals()).map(({ booking, isTaken }) => [booking, isTaken]);
  expect(await numbers()).toEqual([[1, false]]);
  await turn();
  expect(await numbers()).toEqual([[1, true]]);
  // as record.ts leaves a block that left and came back
  const isOnChain = (canonical: boolean) =>
    world.database.query("UPDATE chain_transfer SET canonical = $1", [canonical]);
  await isOnChain(false);
  expect(await numbers()).toEqual([[1, true]]);
  await isOnChain(true);
  await world.database.query("UPDATE chain_transfer SET claimed_kind = NULL");
  expect(await numbers()).toEqual([[2, false]]);
  expect(await turn()).toEqual({ booked: 1, takenBack: 1 });
  expect(await numbers()).toEqual([[2, true]]);
});
