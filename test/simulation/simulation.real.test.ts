/** The part of the simulation that fits into every test run; `npm run simulate` goes on from here. */
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { databaseAt, TEMPLATE } from "../support/database-at.ts";
import { runFleet, STEPS_PER_KILL, split, stepsPerKill } from "./fleet.ts";
import { job } from "./job.ts";
import { faultKinds } from "./parts/faults.ts";
import { dropDatabase, prepareDatabase } from "./parts/template.ts";
import { regressions } from "./regressions.ts";
import type { Job } from "./worker.ts";

const WORKERS = 2;
/** What two cores live in three minutes when they do nothing else. */
const SEEDS = 5_000;
/** It gives way to all other tests: on a slow machine it lasts half an hour. */
const LONG_MS = 3_600_000;

const here = (part: Partial<Job>) => job({ server: inject("databaseUrl"), ...part });

// Never tried twice: whatever a seed shows, it shows again, or that is the mistake.
describe("the settlement engine, simulated", { retry: 0, timeout: LONG_MS }, () => {
  it("has one clock: no column of its database takes another time than a seed's", async () => {
    const [server, database] = [inject("databaseUrl"), "simulated_clock"];
    await prepareDatabase(server, TEMPLATE, database);
    const client = new pg.Client({ connectionString: databaseAt(server, database) });
    await client.connect();
    try {
      const { rows } = await client.query(`SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_default ~ '(pg_catalog\\.now|CURRENT_TIMESTAMP)'`);
      expect(rows).toEqual([]);
    } finally {
      await client.end();
      await dropDatabase(server, database);
    }
  });

  it("holds in the seeds that showed something once, and in every other, whatever goes wrong", async () => {
    const first = regressions.map(({ seed }) => seed);
    const outcome = await runFleet(split(here({ first, seeds: SEEDS }), WORKERS));
    expect(outcome.violations).toEqual([]);
    expect(outcome.seeds).toBe(first.length + SEEDS);
    // then everything did go wrong, and often
    const missing = faultKinds.filter((kind) => (outcome.faults.get(kind)?.seeds ?? 0) < SEEDS / 100);
    expect(missing).toEqual([]);
    expect(stepsPerKill(outcome)).toBeLessThan(STEPS_PER_KILL);
  });

  it("holds with one thing out of the ordinary, at some steps of a small world", async () => {
    const { violations, seeds } = await runFleet([here({ deviations: 1, from: 0, stride: 60 })]);
    expect(violations).toEqual([]);
    expect(seeds).toBeGreaterThan(30);
  });

  it("lives the same seed in the same way, whatever was lived before it, beside it, or how slow the database is", async () => {
    // given seeds lived one after the other, each on what the others left
    const { marks } = await runFleet([here({ from: 20, seeds: 12 })]);
    // when they are lived in the other order, beside each other, and with a pause before every answer
    const backwards = here({ from: 31, stride: -1, seeds: 12 });
    const [alone, slow] = [here({ from: 22 }), here({ from: 26, seeds: 4, pauseMs: 2 })];
    const again = await Promise.all([backwards, alone, slow].map((each) => runFleet([each])));
    // then each does, step by step, what it did before
    for (const each of again)
      for (const [seed, mark] of each.marks) expect({ seed, mark }).toEqual({ seed, mark: marks.get(seed) });
    expect(again.map((each) => each.marks.size)).toEqual([12, 1, 4]);
  });
});
