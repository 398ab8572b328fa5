/** A process that starts a long way behind the chain's head. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFacilitator, type Running } from "#facilitator";
import { type SimulatedWorld, simulateWorld } from "../../simulation/world.ts";

/** Eight turns' worth, which is longer than a third of a lease. */
const BEHIND = 400;

let world: SimulatedWorld;
let again: Running | undefined;
beforeEach(async () => {
  world = await simulateWorld();
});
afterEach(async () => {
  await again?.stop();
  await world.close();
});

async function standing() {
  const [at] = await world.database.query<{ cursor: string; followed: boolean }>(
    "SELECT cursor_number AS cursor, followed_at IS NOT NULL AS followed FROM observer",
  );
  const supported = await again?.facilitator.supported();
  return {
    cursor: Number(at?.cursor),
    followed: at?.followed,
    networks: supported?.networks.map(({ network }) => network),
  };
}

it("settles nothing on it, as far as it tells, until the head is reached; then at once", async () => {
  // given a chain that went on while nobody followed it
  await world.running.stop();
  await world.database.query("UPDATE observer SET followed_at = NULL");
  world.sim.mine(BEHIND);
  // when a process follows it again
  again = createFacilitator(world.engine);
  again.start({ moneyLoops: true });
  const seen: Awaited<ReturnType<typeof standing>>[] = [];
  do {
    await world.turn();
    seen.push(await standing());
  } while ((seen.at(-1)?.cursor ?? 0) < BEHIND);
  // then
  const reached = seen.pop();
  expect(seen.length).toBeGreaterThan(6);
  for (const each of seen) expect(each).toMatchObject({ followed: false, networks: [] });
  expect(reached).toMatchObject({ followed: true });
  await world.turn();
  expect((await standing()).networks).toEqual(["eip155:31337"]);
});
