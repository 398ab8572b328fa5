/** A process that starts a long way behind the chain's head. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFacilitator, type Running } from "#facilitator";
import { fault } from "#kernel/fault";
import { type SimulatedWorld, simulateWorld } from "../../../simulation/world.ts";

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

/** A chain that went on while nobody followed it, and the process that follows it again. */
async function followAgain(): Promise<void> {
  await world.running.stop();
  await world.database.query("UPDATE observer SET followed_at = NULL");
  world.sim.mine(BEHIND);
  again = createFacilitator(world.engine);
  again.start({ moneyLoops: true });
}

it("settles nothing on it, as far as it tells, until the head is reached; then at once", async () => {
  await followAgain();
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

/** How many blocks were asked for at once, each time; more than `most` are refused. */
function countAtOnce(most = Number.POSITIVE_INFINITY): readonly number[] {
  const { chain } = world.sim;
  const { blockAt } = chain;
  const counts: number[] = [];
  let underWay = 0;
  vi.spyOn(chain, "blockAt").mockImplementation(async (number) => {
    if (underWay === 0) counts.push(0);
    counts.push((counts.pop() ?? 0) + 1);
    underWay += 1;
    const isRefused = underWay > most;
    await nextTurn();
    underWay -= 1;
    if (isRefused) throw fault("chain_unavailable", { chain: "local" });
    return blockAt(number);
  });
  return counts;
}

it("asks for more blocks at once the further it got, since each takes a way to the endpoint and back", async () => {
  const counts = countAtOnce();
  await followAgain();
  await world.turn();
  expect((await standing()).cursor).toBe(50);
  expect(counts).toEqual([1, 2, 4, 8, 8, 8, 8, 8, 3]);
});

it("gets there by an endpoint that refuses so many", async () => {
  const counts = countAtOnce(4);
  await followAgain();
  for (let turn = 0; (await standing()).cursor < 21 && turn < 20; turn += 1) await world.turn();
  expect((await standing()).cursor).toBe(21);
  expect(counts).toEqual([1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8]);
});
