import { expect, it } from "vitest";
import type { Rail } from "#facilitator";
import type { WatchedChain } from "../../src/open-chain.ts";
import { railWatches } from "../../src/watch-rails.ts";
import { silentLog } from "../support/dev-chain.ts";
import { manualClock } from "../support/manual-clock.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const taken = { ok: true, paused: null } as Rail;
const paused = { ok: true, paused: "its code has changed" } as Rail;
const refused = { ok: false, problem: "no code" } as Rail;

/** Watches a chain whose rails are one of these after the other, as they are looked at; how often they were. */
async function watched(...found: readonly (readonly Rail[])[]) {
  let looks = 0;
  const open = {
    chain: { row: { slug: "local" } },
    get rails() {
      return found[Math.min(looks, found.length - 1)];
    },
    recheckRails: async () => void looks++,
  } as unknown as WatchedChain;
  const clock = manualClock();
  const meter = { count: () => {}, time: () => {} };
  for (const each of railWatches([open], { clock, log: silentLog, meter })) each.start();
  const pass = async (ms: number) => {
    await clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(0);
  return { looks: () => looks, pass };
}

it.each<[string, Rail]>([
  ["refused", refused],
  ["paused", paused],
])("looks every ten minutes while a rail is %s, and once a day when all are taken", async (_, rail) => {
  const { looks, pass } = await watched([taken, rail], [taken, rail], [taken, taken]);
  await pass(9 * MINUTE_MS);
  expect(looks()).toBe(0);
  await pass(MINUTE_MS);
  expect(looks()).toBe(1);
  await pass(10 * MINUTE_MS);
  expect(looks()).toBe(2);
  await pass(DAY_MS - MINUTE_MS);
  expect(looks()).toBe(2);
  await pass(MINUTE_MS);
  expect(looks()).toBe(3);
});

it("looks again in a moment while endpoints could not be heard", async () => {
  const unheard = { ok: false, problem: "not heard", isUnheard: true } as Rail;
  const { looks, pass } = await watched([taken, unheard], [taken, unheard], [taken, taken]);
  await pass(15_000);
  expect(looks()).toBe(1);
  await pass(15_000);
  expect(looks()).toBe(2);
  await pass(DAY_MS - 1);
  expect(looks()).toBe(2);
});

it("looks a day after a boot that has found all as it should be", async () => {
  const { looks, pass } = await watched([taken]);
  await pass(DAY_MS - 1);
  expect(looks()).toBe(0);
  await pass(1);
  expect(looks()).toBe(1);
});
