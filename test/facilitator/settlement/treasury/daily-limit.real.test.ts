/** What leaves the treasury in a day, where its operator has set a limit. */
import { beforeAll, expect, it } from "vitest";
import { sharedWorld, startHouse, until } from "../../../support/house.ts";
import { merchantWithPayouts } from "../../../support/payouts.ts";
import { ledgerOf } from "../../../support/records.ts";
import { expectAtRest } from "../../../support/scene.ts";

const limits = { dailyLimits: { USDC: "0.01" } };
const world = sharedWorld(limits);
let payouts: Awaited<ReturnType<typeof merchantWithPayouts>>;
beforeAll(async () => {
  payouts = await merchantWithPayouts(world);
});

const limited = async () => (await world.house.sources.health()).chains[0]?.limited;
const aDayPasses = () =>
  world.database.query(
    "UPDATE outgoing SET signed_at = signed_at - interval '1 day' WHERE signed_at IS NOT NULL",
  );

it("what a day has no room for waits in sight, and holds up nothing that there is room for", async () => {
  await payouts.leaves(await payouts.payOut("po_first", 6_000n));
  expect(await limited()).toEqual([]);
  await payouts.payOut("po_large", 5_000n);
  await payouts.leaves(await payouts.payOut("po_small", 4_000n));
  expect([await payouts.stateOf("po_large"), await limited()]).toEqual(["queued", ["USDC@local"]]);
  // and what is not signed can still be taken back, or leaves the next day
  await payouts.payOut("po_cancelled", 1n);
  expect(
    await world.database.db.tx((tx) => world.house.facilitator.outgoing.cancel(tx, "po_cancelled")),
  ).toBe(true);
  expect(await ledgerOf(world.database, "po_large")).toHaveLength(1);
  await aDayPasses();
  await payouts.leaves("po_large");
  expect(await limited()).toEqual([]);
  await expectAtRest(world);
  expect(await ledgerOf(world.database, "po_large")).toHaveLength(3);
});

it("two processes that sign at once keep to it together", async () => {
  await aDayPasses();
  const other = await startHouse(world.dev, world.database, limits);
  try {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => payouts.payOut(`po_many_${i}`, 1_000n)),
    );
    const gone = async () => {
      const states = await Promise.all(ids.map(payouts.stateOf));
      return states.filter((state) => state !== "queued").length;
    };
    await until(async () => (await gone()) >= 10, "ten of them are on their way");
    await expectAtRest(world);
    expect(await gone()).toBe(10);
    await aDayPasses();
    await until(async () => (await gone()) === 20, "the others leave the next day");
  } finally {
    await other.stop();
  }
});
