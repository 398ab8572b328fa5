/** What the last comparisons of books and chain say of an asset, and that nothing of it leaves while one says "different". */
import { beforeAll, expect, it } from "vitest";
import { sharedWorld } from "../../../support/house.ts";
import { merchantWithPayouts } from "../../../support/payouts.ts";
import { expectAtRest } from "../../../support/scene.ts";

const world = sharedWorld();
let payouts: Awaited<ReturnType<typeof merchantWithPayouts>>;
beforeAll(async () => {
  payouts = await merchantWithPayouts(world);
});

const differing = async () => (await world.house.sources.health()).chains[0]?.differing;
const found = (place: "treasury" | "deposits", status: "equal" | "different" | "not-checked") =>
  world.database.query(
    `INSERT INTO reconciliation (chain_id, asset, place, block_number, status, ledger, unexplained)
     VALUES (31337, 'USDC@local', $1, 0, $2, 0, 0)`,
    [place, status],
  );
/** Blocks come and are followed: what may be signed is. */
async function turnsPass(): Promise<void> {
  await world.dev.anvil.mine(3);
  await expectAtRest(world);
}

it("a difference lasts until that place is found equal: not until it could not be checked, nor by another place", async () => {
  await found("treasury", "different");
  await payouts.payOut("po_waits", 1_000n);
  await found("treasury", "not-checked");
  await found("deposits", "equal");
  expect(await differing()).toEqual(["USDC@local"]);
  await turnsPass();
  expect(await payouts.stateOf("po_waits")).toBe("queued");
  await found("treasury", "equal");
  expect(await differing()).toEqual([]);
  await payouts.leaves("po_waits");
  await found("deposits", "different");
  await found("treasury", "equal");
  await payouts.payOut("po_waits_too", 1_000n);
  expect(await differing()).toEqual(["USDC@local"]);
  await turnsPass();
  expect(await payouts.stateOf("po_waits_too")).toBe("queued");
  await found("deposits", "equal");
  await payouts.leaves("po_waits_too");
  await expectAtRest(world);
});

it("deposits that differed are compared until they are equal, also where no address holds anything any more", async () => {
  const places = async () => (await world.house.reconcile()).map(({ asset, place }) => `${asset} ${place}`);
  expect(await places()).not.toContain("USDC@local deposits");
  await found("deposits", "different");
  expect(await places()).toContain("USDC@local deposits");
  expect(await differing()).toEqual([]);
  expect(await places()).not.toContain("USDC@local deposits");
});
