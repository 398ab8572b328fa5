/** Which deposits are swept and when, turn by turn on a made-up chain. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Address } from "#kernel/bytes";
import { type SimulatedWorld, simulateWorld, tokens } from "../../../simulation/world.ts";
import {
  newOrder,
  type OrderPlace,
  openOrder,
  sweepsOf,
  type TestOrder,
  taker,
} from "../../../support/deposits.ts";

let world: SimulatedWorld;
let place: OrderPlace;
beforeEach(async () => {
  world = await simulateWorld();
  place = { database: world.database, house: world.running };
});
afterEach(() => world.close());

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.turn();
}
/** So many blocks, and what they leave to do. */
async function blocks(count: number): Promise<void> {
  world.sim.mine(count);
  await turns(3);
}
function open(): Promise<TestOrder> {
  const expiresAt = new Date(world.clock.now().getTime() + 900_000);
  return openOrder(place, newOrder({ expiresAt }));
}
/** It is mined, and taken. */
async function sendTo(order: TestOrder, amount: bigint, token: Address = tokens.USDC): Promise<void> {
  const { address: payer } = world.payer(token, amount);
  world.sim.transfer(token, payer, order.address, amount);
  await blocks(1);
  await taker(place, order).turn();
}
const amountsOf = async ({ address }: TestOrder) =>
  (await sweepsOf(place, address)).map(({ amount }) => Number(amount));

it("not before its block is final", async () => {
  const order = await open();
  await sendTo(order, 600n);
  await blocks(1);
  expect(await amountsOf(order)).toEqual([]);
  await blocks(1);
  expect(await amountsOf(order)).toEqual([600]);
});

it("nothing that was taken in a block which left the chain", async () => {
  const order = await open();
  await sendTo(order, 600n);
  world.sim.fork(1, () => true);
  await blocks(4);
  expect(await amountsOf(order)).toEqual([]);
});

it("what costs more to move than it is worth waits until it is worth it together", async () => {
  const row = world.row as { dustFloor: bigint };
  row.dustFloor = 100n;
  const order = await open();
  await sendTo(order, 99n);
  await sendTo(order, 99n, tokens.EURC);
  await blocks(4);
  expect(await amountsOf(order)).toEqual([]);
  await sendTo(order, 1n);
  await blocks(4);
  expect(await amountsOf(order)).toEqual([100]);
});

it("one sweep of an address after the other, and no other address waits for that", async () => {
  const [first, second] = [await open(), await open()];
  // given one that does not come into a block
  const send = vi.spyOn(world.sim.chain, "send").mockResolvedValue("accepted");
  await sendTo(first, 10n);
  await blocks(2);
  expect(await amountsOf(first)).toEqual([10]);
  // when more comes, there and elsewhere
  await sendTo(first, 20n);
  await sendTo(second, 30n);
  await blocks(2);
  expect([await amountsOf(first), await amountsOf(second)]).toEqual([[10], [30]]);
  send.mockRestore();
  const inTreasury = () => world.sim.balance(tokens.USDC, world.row.treasury);
  for (let i = 0; i < 40 && inTreasury() < 60n; i += 1) {
    // They have waited long enough for company.
    await world.database.query("UPDATE claim SET created_at = created_at - interval '1 minute'");
    await blocks(1);
  }
  expect([await amountsOf(first), await amountsOf(second)]).toEqual([[10, 20], [30]]);
  expect(inTreasury()).toBe(60n);
});

it("nothing of an asset that differs, also where something left an address by no sweep of ours", async () => {
  const [first, second] = [await open(), await open()];
  await sendTo(first, 44n);
  await sendTo(second, 44n, tokens.EURC);
  const differs = (asset: string) =>
    world.database.query(
      `INSERT INTO reconciliation (chain_id, asset, block_number, status, ledger, unexplained)
       VALUES ($1, $2, 0, 'different', 0, 1)`,
      [world.row.chainId, asset],
    );
  await differs("USDC@local");
  world.sim.transfer(tokens.USDC, first.address, world.row.treasury, 4n);
  await blocks(4);
  expect([await amountsOf(first), await amountsOf(second)]).toEqual([[], [44]]);
});
