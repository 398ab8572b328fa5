import { describe, expect, it } from "vitest";
import { coalesce } from "#kernel/coalesce";
import { crowd } from "#kernel/crowd";
import { gate } from "../../support/gate.ts";
import { manualClock } from "../../support/manual-clock.ts";

const LONGEST_MS = 20;

describe("a crowd", () => {
  it("of nobody is gathered at once", async () => {
    await crowd(manualClock(), LONGEST_MS).gathered();
  });

  it("is gathered when the last one is there, however it ended", async () => {
    const clock = manualClock();
    const all = crowd(clock, LONGEST_MS);
    const [one, other] = [gate(), gate()];
    const coming = [
      all.come(() => one.passed),
      all.come(() => other.passed.then(() => Promise.reject(new Error("lost his way")))),
    ];
    let isGathered = false;
    const gathered = all.gathered().then(() => {
      isGathered = true;
    });
    one.open();
    await coming[0];
    expect(isGathered).toBe(false);
    other.open();
    await expect(coming[1]).rejects.toThrow("lost his way");
    await gathered;
  });

  it("does not wait for one who is slow", async () => {
    const clock = manualClock();
    const all = crowd(clock, LONGEST_MS);
    const slow = gate();
    const coming = all.come(() => slow.passed);
    let isGathered = false;
    const gathered = all.gathered().then(() => {
      isGathered = true;
    });
    await clock.advance(LONGEST_MS - 1);
    expect(isGathered).toBe(false);
    await clock.advance(1);
    await gathered;
    slow.open();
    await coming;
  });

  it("travels in one group, also where some come later than others", async () => {
    const all = crowd(manualClock(), LONGEST_MS);
    const groups: (readonly number[])[] = [];
    const ask = coalesce(
      { maxInFlight: 2, maxItems: 100, gathered: all.gathered },
      async (items: readonly number[]) => {
        groups.push(items);
        return items;
      },
    );
    const late = gate();
    const first = all.come(async () => {}).then(() => ask(1));
    const second = all.come(() => late.passed).then(() => ask(2));
    await new Promise(setImmediate);
    expect(groups).toEqual([]);
    late.open();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    expect(groups).toEqual([[1, 2]]);
  });
});
