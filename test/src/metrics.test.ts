/** What a scrape says, and when. */
import { readFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { prometheus, type Sources } from "../../src/metrics.ts";
import { gate } from "../support/gate.ts";

const quiet: Sources = {
  health: async () => ({
    isWritable: true,
    chains: [],
    openClaims: [],
    openSweeps: { count: 0, oldestSeconds: 0 },
    undeliveredFacts: 0,
    oldestFactSeconds: 0,
    deadFacts: 7,
  }),
  outlook: async () => [],
  budgets: async () => [],
  imbalance: async () => [],
  mail: async () => ({ queued: 0, failed: 0, oldestSeconds: 0 }),
  pools: () => ({}),
};

async function scraped(change: Partial<Sources> = {}) {
  const { port, close } = await prometheus().listen({ host: "127.0.0.1", port: 0 }, { ...quiet, ...change });
  onTestFinished(close);
  return async (query = "") => (await fetch(`http://127.0.0.1:${port}/metrics${query}`)).text();
}

it("what operators are told to watch is there", async () => {
  const text = await (await scraped())("?job=farebox");
  const named = (await readFile("docs/operating.md", "utf8")).match(/farebox_[a-z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !text.includes(`# HELP ${name} `))).toEqual([]);
});

it("a database that does not answer is said to be down, and nothing of it to be well", async () => {
  let isDown = false;
  const health = async () => {
    if (isDown) throw new Error("the database is gone");
    return quiet.health();
  };
  const scrape = await scraped({ health });
  const up = await scrape();
  expect(up).toMatch(/^farebox_database_up 1$/m);
  expect(up).toMatch(/^farebox_outbox_dead 7$/m);
  isDown = true;
  const down = await scrape();
  expect(down).not.toMatch(/^farebox_database_writable/m);
  expect(down).toMatch(/^farebox_database_up 0$/m);
  expect(down).not.toMatch(/^farebox_(outbox|open_sweep|mail)/m);
});

it.each([true, false])("a database that takes writes: %s", async (isWritable) => {
  const scrape = await scraped({ health: async () => ({ ...(await quiet.health()), isWritable }) });
  expect(await scrape()).toMatch(
    isWritable ? /^farebox_database_writable 1$/m : /^farebox_database_writable 0$/m,
  );
});

it("scrapes at once are told the same: none takes away what another has just read", async () => {
  const asked = gate();
  const answered = gate();
  const mail = async () => {
    asked.open();
    await answered.passed;
    return quiet.mail();
  };
  const over = gate();
  let readings = 0;
  const health = async () => {
    readings += 1;
    if (readings > 1) await over.passed;
    return quiet.health();
  };
  const scrape = await scraped({ health, mail });
  const first = scrape();
  await asked.passed;
  const second = scrape();
  await turns(50);
  answered.open();
  const told = await first;
  over.open();
  for (const each of [told, await second]) expect(each).toMatch(/^farebox_outbox_dead 7$/m);
});

/** Of the event loop: by then a request of this process has come to its server. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise(setImmediate);
}
