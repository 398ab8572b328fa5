/** Chains of the configuration that go by other names than in the books. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { adoptSlugs, type ChainConfig, type ChainRow } from "#facilitator";
import { ConfigProblem } from "../../src/config.ts";
import { sharedDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { type HouseOptions, startHouse } from "../support/house.ts";

const database = sharedDatabase();
let dev: DevChain;
let stranger: DevChain;
beforeAll(async () => {
  dev = named(await startDevChain({ chainId: 31_338 }), { slug: "ours" });
  stranger = named(await startDevChain({ chainId: 31_339 }), { slug: "ours" });
});
afterAll(async () => {
  for (const each of [dev, stranger]) await each?.stop();
});

const known = () => database.query("SELECT chain_id, slug FROM chain_slug ORDER BY chain_id");
const transfers = () => database.query("SELECT count(*) FROM ledger_transfer");
const named = (on: DevChain, config: Partial<ChainConfig>): DevChain => ({
  ...on,
  config: { ...on.config, ...config },
});

const connections = () =>
  database.query(
    "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ('farebox-requests', 'farebox-loops')",
  );

/** The line of a start that is refused, and that it changed nothing and left nothing open: a command would never end. */
async function refusalOf(on: DevChain, role: NonNullable<HouseOptions["role"]>): Promise<string> {
  const before = [await known(), await transfers()];
  const problem = await startHouse(on, database, { role }).then(
    (running) => running.stop().then(() => null),
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(ConfigProblem);
  expect([await known(), await transfers()]).toEqual(before);
  await expect.poll(connections, { timeout: 10_000 }).toEqual([]);
  return (problem as ConfigProblem).message;
}

it("are refused in every role: a slug that is another chain's in the books, and another slug of a chain", async () => {
  const start = async () => (await startHouse(dev, database)).stop();
  await start();
  for (const role of ["all", "web", "worker"] as const) {
    expect(await refusalOf(stranger, role)).toBe(
      "FAREBOX_CHAINS, ours: in the books ours is chain 31338, not 31339; under one slug the money of both would be one balance. Put chainId 31338 back, or choose another slug for chain 31339.",
    );
    expect(await refusalOf(named(dev, { slug: "mine" }), role)).toBe(
      "FAREBOX_CHAINS, mine: in the books chain 31338 is ours; under another slug its books would begin anew, without what is in them. Put the slug ours back.",
    );
  }
  await start();
  expect(await known()).toEqual([{ chain_id: "31338", slug: "ours" }]);
});

it("are refused together with those that are new: nothing is learned by a start that is none", async () => {
  const chain = (chainId: number, slug: string) => ({ chainId, slug }) as ChainRow;
  const rows = [chain(7, "new"), chain(8, "ours")];
  expect(await adoptSlugs(database.db, rows)).toMatch(/^FAREBOX_CHAINS, ours: /);
  expect(await known()).toEqual([{ chain_id: "31338", slug: "ours" }]);
  expect(await adoptSlugs(database.db, [chain(7, "new"), chain(31_338, "ours")])).toBeNull();
  expect(await known()).toEqual([
    { chain_id: "7", slug: "new" },
    { chain_id: "31338", slug: "ours" },
  ]);
});

it("may change places with nobody", async () => {
  const rows = [
    { chainId: 7, slug: "ours" },
    { chainId: 31_338, slug: "new" },
  ] as ChainRow[];
  expect(await adoptSlugs(database.db, rows)).toMatch(
    /^FAREBOX_CHAINS, ours: in the books ours is chain 31338/,
  );
});
