/** The short form of `npm run torture`: a few kills and restarts under load, and one payment sent a thousand times. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { settleManyTimes } from "../torture/duplicates.ts";
import { openStage, type Stage } from "../torture/stage.ts";
import { duplicatesTable, tortureTable } from "../torture/table.ts";
import { torture } from "../torture/torture.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const DUPLICATES = 1_000;
const strikes = { kills: 10, restarts: 2, perSecond: 30, everyMs: 1_500, say: () => undefined };
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ processes: 3, payers: 400, leaseSeconds: 3 });
});
afterAll(() => stage?.stop());

describe("one authorization, settled a thousand times at once over three processes", () => {
  it("one transaction, one credit, one success; nobody is told anything else than where it stands", async () => {
    const found = await settleManyTimes(stage, DUPLICATES);
    process.stdout.write(`${duplicatesTable(found)}\n`);
    expect(found).toMatchObject({ successes: 1, transactions: 1, credits: 1 });
    expect([...found.others.keys()]).toEqual([]);
  });
});

describe("processes killed and PostgreSQL restarted under load", () => {
  it("every payment is settled once or never charged, and the books equal the chain", async () => {
    const outcome = await torture(stage, strikes);
    process.stdout.write(`${tortureTable(outcome)}\n`);
    expect(Object.entries(outcome.wrongs).filter(([, count]) => count > 0)).toEqual([]);
    expect(outcome.settled).toBeGreaterThan(0);
  });
});
