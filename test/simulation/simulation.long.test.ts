/** The part of the simulation that fits into every test run; `npm run simulate` goes on from here. */
import { describe, expect, inject, it } from "vitest";
import { runFleet, split } from "./fleet.ts";
import { mutants } from "./mutants/mutants.ts";
import { regressions } from "./regressions.ts";
import type { Job } from "./worker.ts";

const WORKERS = 2;
const SECONDS = 45;
/** Lived however long they take, on a busy machine too. */
const LEAST_SEEDS = 20;
/** A mutant is caught by the seed that it names, or, when the simulation has changed since, by one of so many. */
const SEEDS_PER_MUTANT = 400;
const LONG_MS = 1_800_000;

const job = (part: Partial<Job>): Job => ({
  server: inject("databaseUrl"),
  from: 1,
  stride: 1,
  seeds: 1,
  leastSeeds: 1,
  seconds: 0,
  mutants: null,
  ...part,
});

describe("the settlement engine, simulated", () => {
  it.each(regressions)("holds in seed $seed, which showed $showed", async ({ seed }) => {
    expect((await runFleet([job({ from: seed })])).violations).toEqual([]);
  });

  it(
    "holds in every seed, whatever goes wrong",
    async () => {
      const most = job({ seeds: 100_000, leastSeeds: LEAST_SEEDS, seconds: SECONDS });
      const { violations, seeds } = await runFleet(split(most, WORKERS));
      expect(violations).toEqual([]);
      expect(seeds).toBeGreaterThanOrEqual(LEAST_SEEDS);
    },
    LONG_MS,
  );

  it(
    "lives the same seed in the same way, whatever was lived before it",
    async () => {
      const [many, alone] = [job({ from: 20, seeds: 3, leastSeeds: 3 }), job({ from: 22 })];
      const [before, after] = [await runFleet([many]), await runFleet([alone])];
      expect(after.marks.get(22)).toBe(before.marks.get(22));
    },
    LONG_MS,
  );

  it(
    "catches the mistakes that it caught before",
    async () => {
      const known = mutants.filter(({ seed }) => seed !== null).map(({ name }) => name);
      const found = await runFleet(split(job({ seeds: SEEDS_PER_MUTANT, mutants: known }), WORKERS));
      expect(found.mutants.filter(({ oracle }) => oracle === null)).toEqual([]);
      expect(found.mutants).toHaveLength(known.length);
    },
    LONG_MS,
  );
});
