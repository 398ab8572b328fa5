/** What leaves the treasury in a day, where its operator has set a limit. */
import { sql } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import { sharedWorld, startHouse, until } from "../../../support/house.ts";
import { merchantWithPayouts } from "../../../support/payouts.ts";
import { ledgerOf, waitingForLocks } from "../../../support/records.ts";
import { expectAtRest, withoutSigning } from "../../../support/scene.ts";

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

it("nothing is signed while another process signs", async () => {
  await aDayPasses();
  await world.database.db.tx(async (tx) => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended('outgoing 31337', 0))`);
    await payouts.payOut("po_in_turn", 1n);
    await until(
      async () => (await waitingForLocks(world, "advisory_xact_lock")) > 0,
      "it waits for its turn",
    );
    expect(await payouts.stateOf("po_in_turn")).toBe("queued");
  });
  await payouts.leaves("po_in_turn");
});

it("what waits for other reasons, or for nothing any more, is not said to wait for it", async () => {
  await aDayPasses();
  await withoutSigning(world, async () => {
    await payouts.payOut("po_all", 10_000n);
    expect(await limited()).toEqual([]);
    await payouts.payOut("po_too_much", 10_001n);
    expect(await limited()).toEqual(["USDC@local"]);
    for (const id of ["po_too_much", "po_all"])
      expect(await world.database.db.tx((tx) => world.house.facilitator.outgoing.cancel(tx, id))).toBe(true);
    expect(await limited()).toEqual([]);
  });
});

it("what left in another token or on another chain takes no room", async () => {
  await aDayPasses();
  for (const [id, column, value] of [
    ["po_token", "token", `'\\x${"ab".repeat(20)}'::bytea`],
    ["po_chain", "chain_id", "1"],
  ] as const) {
    await payouts.leaves(await payouts.payOut(id, 9_000n));
    await expectAtRest(world);
    await world.database.query(`UPDATE outgoing SET ${column} = ${value} WHERE id = $1`, [id]);
  }
  await payouts.leaves(await payouts.payOut("po_third", 9_000n));
  await expectAtRest(world);
});

/** Last: the chain's time runs ahead of everybody's. */
it("what was signed and never left takes no room once it has ended", async () => {
  await aDayPasses();
  await world.dev.administer("pause");
  await payouts.payOut("po_never", 9_000n);
  await until(async () => (await payouts.stateOf("po_never")) === "sending", "it is signed");
  await payouts.payOut("po_waits", 9_000n);
  expect(await limited()).toEqual(["USDC@local"]);
  await world.dev.anvil.rpc("evm_increaseTime", [3_700]);
  await until(async () => {
    await world.dev.anvil.mine();
    return (await payouts.stateOf("po_never")) === "failed";
  }, "it has ended");
  await world.dev.administer("unpause");
  await payouts.leaves("po_waits");
  await expectAtRest(world);
});
