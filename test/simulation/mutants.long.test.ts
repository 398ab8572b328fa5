/** What the simulation is worth: the engine with one thing wrong, each way in turn, and how soon an oracle speaks. */
import { expect, inject, it } from "vitest";
import { hunts, runFleet } from "./fleet.ts";
import { job } from "./job.ts";
import { mutants } from "./mutants/mutants.ts";

const WORKERS = 2;
/** A mutant is caught by the seed that it names, or, when the simulation has changed since, by one of so many. */
const SEEDS_PER_MUTANT = 1_000;

it("catches every mistake", { timeout: 3_600_000 }, async () => {
  const names = mutants.map(({ name }) => name);
  const hunt = job({ server: inject("databaseUrl"), seeds: SEEDS_PER_MUTANT });
  const found = await runFleet(hunts(hunt, names), undefined, WORKERS);
  expect(found.mutants.filter(({ oracle }) => oracle === null)).toEqual([]);
  expect(found.mutants.map(({ name }) => name).sort()).toEqual(names.sort());
});
