import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coalesce } from "#kernel/coalesce";

/** A `run` that ends only when told, and remembers its groups. */
function heldRun() {
  const groups: (readonly number[])[] = [];
  const ends: { readonly answer: () => void; readonly fail: (reason: Error) => void }[] = [];
  const run = (items: readonly number[]) => {
    groups.push(items);
    return new Promise<readonly string[]>((resolve, reject) => {
      ends.push({ answer: () => resolve(items.map((item) => `answer ${item}`)), fail: reject });
    });
  };
  return { groups, ends, run };
}

describe("grouped calls", () => {
  it("callers of one turn travel together, and each gets its own answer", async () => {
    const { groups, ends, run } = heldRun();
    const ask = coalesce({ maxInFlight: 2, maxItems: 100 }, run);
    const answers = Promise.all([1, 2, 3].map(ask));
    await nextTurn();
    expect(groups).toEqual([[1, 2, 3]]);
    ends[0]?.answer();
    expect(await answers).toEqual(["answer 1", "answer 2", "answer 3"]);
  });

  it("a second group starts at once while fewer than the limit run; the rest waits and goes together", async () => {
    const { groups, ends, run } = heldRun();
    const ask = coalesce({ maxInFlight: 2, maxItems: 100 }, run);
    const all: Promise<string>[] = [];
    for (const item of [1, 2, 3, 4]) {
      all.push(ask(item));
      await nextTurn();
    }
    expect(groups).toEqual([[1], [2]]);
    ends[0]?.answer();
    expect(await all[0]).toBe("answer 1");
    await nextTurn();
    expect(groups).toEqual([[1], [2], [3, 4]]);
    ends[1]?.answer();
    ends[2]?.answer();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4].map((item) => `answer ${item}`));
  });

  it("a group holds at most its limit, in the order of the calls", async () => {
    const { groups, ends, run } = heldRun();
    const ask = coalesce({ maxInFlight: 2, maxItems: 2 }, run);
    const answers = Promise.all([1, 2, 3, 4, 5].map(ask));
    await nextTurn();
    expect(groups).toEqual([
      [1, 2],
      [3, 4],
    ]);
    for (const { answer } of ends) answer();
    await nextTurn();
    expect(groups[2]).toEqual([5]);
    ends[2]?.answer();
    expect((await answers).length).toBe(5);
  });

  it("a failure reaches every caller of its group and nobody else, and gives its place free", async () => {
    const { ends, run } = heldRun();
    const ask = coalesce({ maxInFlight: 1, maxItems: 2 }, run);
    const answers = Promise.allSettled([1, 2, 3].map(ask));
    await nextTurn();
    const down = new Error("down");
    ends[0]?.fail(down);
    await nextTurn();
    ends[1]?.answer();
    expect(await answers).toEqual([
      { status: "rejected", reason: down },
      { status: "rejected", reason: down },
      { status: "fulfilled", value: "answer 3" },
    ]);
  });

  it("an error thrown at once is a failure like any other", async () => {
    const ask = coalesce<number, string>({ maxInFlight: 1, maxItems: 2 }, () => {
      throw new Error("at once");
    });
    await expect(ask(1)).rejects.toThrow("at once");
    await expect(ask(2)).rejects.toThrow("at once");
  });

  it("a caller whose answer is missing is told, not left waiting", async () => {
    const ask = coalesce<number, string>({ maxInFlight: 1, maxItems: 10 }, async ([first]) => [
      `answer ${first}`,
    ]);
    const [one, two] = await Promise.allSettled([ask(1), ask(2)]);
    expect(one).toEqual({ status: "fulfilled", value: "answer 1" });
    expect(two).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("fewer items") },
    });
  });

  it("whatever comes when, everybody is answered once and no limit is passed", async () => {
    const limits = fc.record({
      maxInFlight: fc.integer({ min: 1, max: 4 }),
      maxItems: fc.integer({ min: 1, max: 7 }),
    });
    const turns = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(limits, turns, async ({ maxInFlight, maxItems }, arrivals) => {
        let inFlight = 0;
        const seen: number[] = [];
        const ask = coalesce<number, number>({ maxInFlight, maxItems }, async (items) => {
          inFlight += 1;
          expect(inFlight).toBeLessThanOrEqual(maxInFlight);
          expect(items.length).toBeLessThanOrEqual(maxItems);
          await nextTurn();
          seen.push(...items);
          inFlight -= 1;
          return items.map((item) => item * 2);
        });
        const asked: Promise<number>[] = [];
        for (const count of arrivals) {
          for (let i = 0; i < count; i++) asked.push(ask(asked.length));
          await nextTurn();
        }
        expect(await Promise.all(asked)).toEqual(asked.map((_, item) => item * 2));
        expect(seen.sort((a, b) => a - b)).toEqual(asked.map((_, item) => item));
      }),
      { numRuns: 60 },
    );
  });
});
