/** What is owed outward while no gas key may send, turn by turn on a made-up chain. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { quarantineLane, resumeLane } from "#facilitator";
import { sha256 } from "#kernel/codec";
import { type SimulatedWorld, simulateWorld } from "../../../simulation/world.ts";
import { treasuryOf } from "../../../support/simulated-treasury.ts";

let world: SimulatedWorld;
const { blocks, carriedOut, earned, queued, stateOf } = treasuryOf(() => world);
beforeEach(async () => {
  world = await simulateWorld();
  await blocks(4);
  await earned(1_000n);
});
afterEach(() => world.close());

function lane() {
  const [address] = [...world.engine.chains.values()].flatMap(({ laneAddresses }) => laneAddresses);
  if (!address) throw new Error("a world without a lane");
  return { chain: "local", address };
}
/** Longer than a lane is held without being looked at. */
const laneIsSeen = async () => {
  for (let i = 0; i < 7; i += 1) await world.turn();
};
const RICH = 10n ** 20n;

it("is not signed while the only lane is quarantined, can be taken back, and leaves when it signs again", async () => {
  expect(await quarantineLane(world.engine, lane())).toBe(true);
  await laneIsSeen();
  const [order, other] = [await queued(), await queued({ id: "po_2" })];
  await blocks(3);
  expect([await stateOf(order), await stateOf(other)]).toEqual(["queued", "queued"]);
  const { outgoing } = world.running.facilitator;
  expect(await world.database.db.tx((tx) => outgoing.cancel(tx, other.id))).toBe(true);
  await resumeLane(world.engine, lane());
  await laneIsSeen();
  await blocks(4);
  expect([await stateOf(order), await stateOf(other)]).toEqual(["final", "cancelled"]);
});

it("does not fail where the lane has no gas for longer than a signature would live", async () => {
  const { chain } = world.sim;
  const held = chain.nativeBalance;
  chain.nativeBalance = async () => 0n;
  await laneIsSeen();
  const order = await queued();
  // an hour and some, no more at once than is followed in a turn
  for (let i = 0; i < 75; i += 1) {
    world.sim.mine(50);
    await world.turn();
  }
  await blocks(1);
  expect(await stateOf(order)).toBe("queued");
  chain.nativeBalance = async (...asked) => (await held(...asked)) + RICH;
  await laneIsSeen();
  await blocks(4);
  expect(await stateOf(order)).toBe("final");
});

it("is signed where it has left already, before the books were put back: they follow it", async () => {
  await quarantineLane(world.engine, lane());
  await laneIsSeen();
  const order = await queued();
  await carriedOut({
    ...{ from: world.row.treasury, to: order.recipient, value: order.amount },
    nonce: sha256("farebox/outgoing/v1", order.id),
  });
  await blocks(4);
  expect(await stateOf(order)).toBe("final");
});
