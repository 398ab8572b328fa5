import { describe, expect, it, vi } from "vitest";
import type { Database } from "#store";
import { relay } from "../../src/relay.ts";
import { silentLog } from "../support/dev-chain.ts";
import { manualClock } from "../support/manual-clock.ts";

/** A database without facts that counts how often it was asked for some. */
function withoutFacts() {
  const asked = vi.fn(async () => []);
  const db = { pool: { select: () => ({ from: () => ({ where: () => ({ limit: asked }) }) }) } };
  return { db: db as unknown as Database, asked };
}

describe("telling facts", () => {
  async function turnsWithin(ms: number, isBusy: () => boolean): Promise<number> {
    const clock = manualClock();
    const { db, asked } = withoutFacts();
    const facts = relay({ db, clock, log: silentLog, isBusy, told: () => {} }, []);
    facts.start();
    for (let passed = 0; passed < ms; passed += 10) await clock.advance(10);
    const times = asked.mock.calls.length;
    await facts.stop();
    return times;
  }

  it("begins soon where nobody is about to pay", async () => {
    expect(await turnsWithin(100, () => false)).toBe(1);
  });

  it("begins at once where somebody waits for it, unless others are about to pay", async () => {
    const toldAfter = async (isBusy: boolean) => {
      const clock = manualClock();
      const { db, asked } = withoutFacts();
      const facts = relay({ db, clock, log: silentLog, isBusy: () => isBusy, told: () => {} }, []);
      facts.start();
      for (let passed = 0; passed < 120; passed += 10) await clock.advance(10);
      const before = asked.mock.calls.length;
      facts.hurry();
      await clock.advance(1);
      const times = asked.mock.calls.length - before;
      await facts.stop();
      return times;
    };
    expect(await toldAfter(false)).toBe(1);
    expect(await toldAfter(true)).toBe(0);
  });

  it("gives way to those who pay", async () => {
    expect(await turnsWithin(4_900, () => true)).toBe(0);
  });

  it("waits for a calm, not for a gap in the wave", async () => {
    let look = 0;
    expect(
      await turnsWithin(4_900, () => {
        look += 1;
        return look % 2 === 0;
      }),
    ).toBe(0);
  });

  it("says so only when something was told", async () => {
    const told = vi.fn();
    const clock = manualClock();
    const { db } = withoutFacts();
    const facts = relay({ db, clock, log: silentLog, isBusy: () => false, told }, []);
    facts.start();
    for (let passed = 0; passed < 1_000; passed += 10) await clock.advance(10);
    await facts.stop();
    expect(told).not.toHaveBeenCalled();
  });

  it("is not kept from it for long", async () => {
    expect(await turnsWithin(5_300, () => true)).toBe(1);
  });

  it("takes turns with those who pay, once it is behind, until all is told", async () => {
    const clock = manualClock();
    const groups = [250, 250, 250, 7];
    const turns: number[] = [];
    const db = {
      pool: { select: () => ({ from: () => ({ where: () => ({ limit: async () => [{ id: "evt_1" }] }) }) }) },
      async tx() {
        turns.push(clock.monotonicMs());
        return groups.shift() ?? 1;
      },
    };
    const needs = { db: db as unknown as Database, clock, log: silentLog, told: () => {} };
    const facts = relay({ ...needs, isBusy: () => true }, []);
    facts.start();
    for (let passed = 0; passed < 10_000; passed += 10) await clock.advance(10);
    const seen = [...turns];
    await facts.stop();
    expect(seen).toHaveLength(4);
    expect(seen.every((at) => at >= 5_000 && at < 5_600)).toBe(true);
  });
});
