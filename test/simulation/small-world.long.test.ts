/** Anything out of the ordinary, at any step of two payments. `npm run simulate -- --deviations 2` takes each two things. */
import { expect, inject, it } from "vitest";
import { runFleet, split } from "./fleet.ts";
import { job } from "./job.ts";

const WORKERS = 2;

it("holds with one deviation at each step", { timeout: 1_800_000 }, async () => {
  const all = job({ server: inject("databaseUrl"), deviations: 1 });
  const { violations, seeds } = await runFleet(split(all, WORKERS));
  expect(violations).toEqual([]);
  expect(seeds).toBeGreaterThan(2_000);
});
