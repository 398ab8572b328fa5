import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDust, leastOf, requiredFor } from "../../../../api/clearing/money.ts";
import {
  type Coming,
  closesAt,
  decide,
  isLate,
  partsOf,
  type Standing,
  windowOf,
} from "../../../../api/clearing/rails/order.ts";
import { advance, clearingStates } from "../../../../api/clearing/state.ts";

const expiresAt = new Date("2026-08-11T10:00:00.000Z");
const at = (seconds: number) => new Date(expiresAt.getTime() + seconds * 1000);
const DAY = 86_400;

describe("where a deposit belongs", () => {
  const coming: Coming = {
    amount: 10_000_000n,
    isOrdered: true,
    at: at(-60),
    state: "awaiting-funds",
    expiresAt,
    due: 10_000_000n,
    least: 10_000_000n,
    held: 0n,
  };
  const parts = (over: Partial<Coming>) => {
    const { toClearing, toOverpayment, toUnmatched } = partsOf({ ...coming, ...over });
    return [toClearing, toOverpayment, toUnmatched];
  };

  it.each([
    ["what is due", {}, [10_000_000n, 0n, 0n]],
    ["less", { amount: 4_000_000n }, [4_000_000n, 0n, 0n]],
    ["more", { amount: 12_000_000n }, [10_000_000n, 2_000_000n, 0n]],
    ["the rest and more", { amount: 8_000_000n, held: 4_000_000n }, [6_000_000n, 2_000_000n, 0n]],
    ["again what was due", { held: 10_000_000n, state: "funds-received" }, [0n, 10_000_000n, 0n]],
    ["dust", { amount: 9_999n }, [0n, 0n, 9_999n]],
    ["dust beyond what was due", { amount: 9_999n, held: 10_000_000n }, [0n, 0n, 9_999n]],
    ["dust that completes the sum", { amount: 9_999n, held: 9_990_001n }, [9_999n, 0n, 0n]],
    ["dust within the tolerance", { amount: 1n, held: 9_899_999n, least: 9_900_000n }, [1n, 0n, 0n]],
    ["another token, or a replaced order", { isOrdered: false }, [0n, 0n, 10_000_000n]],
    ["late", { at: at(3_600), state: "expired" }, [10_000_000n, 0n, 0n]],
    ["at the end of the seventh day", { at: at(7 * DAY), state: "expired" }, [10_000_000n, 0n, 0n]],
    ["after the seventh day", { at: at(7 * DAY + 1), state: "expired" }, [0n, 0n, 10_000_000n]],
    ["after it was paid", { state: "settled" }, [0n, 0n, 10_000_000n]],
    ["after it was returned", { state: "returned" }, [0n, 0n, 10_000_000n]],
    ["back after a reorganisation", { state: "reversed" }, [10_000_000n, 0n, 0n]],
    ["for what was cancelled", { state: "cancelled" }, [10_000_000n, 0n, 0n]],
  ] as const)("%s", (_, over, expected) => {
    expect(parts(over)).toEqual(expected);
  });

  it("nothing is lost and nothing is made, whatever comes", () => {
    const amount = fc.bigInt(1n, 10n ** 12n);
    const some = fc.record({
      amount,
      isOrdered: fc.boolean(),
      at: fc.integer({ min: -DAY, max: 20 * DAY }).map(at),
      state: fc.constantFrom(...clearingStates),
      due: amount,
      held: fc.bigInt(0n, 10n ** 12n),
    });
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 500 }), (given, toleranceBps) => {
        const least = leastOf({ sourceAmount: given.due, toleranceBps });
        const { toClearing, toOverpayment, toUnmatched } = partsOf({ ...given, expiresAt, least });
        expect(toClearing + toOverpayment + toUnmatched).toBe(given.amount);
        for (const part of [toClearing, toOverpayment, toUnmatched]) expect(part >= 0n).toBe(true);
        // never more than is due lies in the clearing by this
        if (toClearing > 0n) expect(given.held + toClearing <= given.due).toBe(true);
      }),
    );
  });
});

describe("the next step", () => {
  const standing: Standing = {
    state: "awaiting-funds",
    now: at(-600),
    expiresAt,
    due: 100n,
    least: 100n,
    held: 0n,
    hasLate: false,
    coming: 0n,
    timely: 0n,
    depthMs: 24_000,
    hasNew: false,
    hasStray: false,
    holdsStray: false,
    isRateGood: true,
    isHeldByAgent: false,
    isForeclosed: false,
  };
  const tolerant = { due: 100n, least: 95n };
  const rest = { ...tolerant, held: 96n, coming: 4n, timely: 4n };
  const step = (over: Partial<Standing>) => decide({ ...standing, ...over })?.trigger ?? null;

  it.each([
    ["nothing came yet", {}, null],
    ["a deposit is seen", { coming: 1n }, "detect"],
    ["one is there already, after more time was given", { held: 60n }, "detect"],
    ["money came that was not asked for", { hasStray: true }, "review"],
    ["something else pays the same", { coming: 100n, isForeclosed: true }, "review"],
    ["the window is over, its skew is not", { now: at(60) }, null],
    ["the window is over", { now: at(61) }, "expire"],
    ["the window is over, and another token lies here", { now: at(61), holdsStray: true }, "review"],
    ["an agent's payment is under way", { now: at(61), isHeldByAgent: true }, null],
  ] as const)("awaiting funds: %s", (_, over, expected) => {
    expect(step(over)).toBe(expected);
  });

  it.each([
    ["not enough, and time", { held: 60n }, null],
    ["enough on its way", { coming: 100n }, null],
    ["enough", { held: 100n }, "receive"],
    ["enough within the tolerance", { ...tolerant, held: 96n }, "receive"],
    ["enough within the tolerance, the rest is on its way", rest, null],
    ["the same at the end: its confirmations and ten minutes", { ...rest, now: at(624) }, null],
    ["the same, and no longer", { ...rest, now: at(625) }, "receive"],
    ["the same, sent after the window", { ...rest, timely: 0n, now: at(99) }, "receive"],
    ["all that is due, and more on its way", { ...rest, held: 100n }, "receive"],
    ["enough, while an agent's payment is under way", { held: 100n, isHeldByAgent: true }, null],
    ["all of it left the chain", {}, "lose"],
    ["all of it left the chain, and the window is over", { now: at(61) }, "expire"],
    [
      "all of it left the chain, the window is over, and another token lies here",
      { now: at(61), holdsStray: true },
      "review",
    ],
    ["not enough at the end", { held: 60n, now: at(61) }, "review"],
    [
      "more is seen at the end: its confirmations and ten minutes",
      { held: 60n, coming: 1n, now: at(624) },
      null,
    ],
    ["and no longer", { held: 60n, coming: 1n, now: at(625) }, "review"],
    ["enough is seen at the end: all the time it takes", { held: 60n, coming: 40n, now: at(99_999) }, null],
    ["enough, some of it late, the rate holds", { held: 100n, hasLate: true, now: at(99) }, "receive"],
    ["enough, some of it late, the rate moved", { held: 100n, hasLate: true, isRateGood: false }, "review"],
    ["another token beside it", { held: 100n, hasStray: true }, "review"],
    ["enough, while something else pays the same", { held: 100n, isForeclosed: true }, "review"],
  ] as const)("funds detected: %s", (_, over, expected) => {
    expect(step({ state: "funds-detected", ...over })).toBe(expected);
  });

  it.each([
    ["funds-received", "held: 100n", { held: 100n }, "settle"],
    ["funds-received", "held: 99n", { held: 99n }, "review"],
    ["settling", "held: 100n", { held: 100n }, "credit"],
    [
      "settled",
      "held: 100n, hasNew: true, hasStray: true",
      { held: 100n, hasNew: true, hasStray: true },
      null,
    ],
    ["in-review", "held: 60n, hasNew: true", { held: 60n, hasNew: true }, null],
    ["in-review", "coming: 1n", { coming: 1n }, null],
    ["in-review", "holdsStray: true", { holdsStray: true }, null],
    ["in-review", "", {}, "extend"],
    ["in-review", "isHeldByAgent: true", { isHeldByAgent: true }, null],
    [
      "expired",
      "held: 100n, hasNew: true, hasLate: true",
      { held: 100n, hasNew: true, hasLate: true },
      "reopen",
    ],
    [
      "expired",
      "held: 100n, hasNew: true, hasLate: true, isRateGood: false",
      { held: 100n, hasNew: true, hasLate: true, isRateGood: false },
      "review",
    ],
    [
      "expired",
      "held: 100n, hasNew: true, isRateGood: false",
      { held: 100n, hasNew: true, isRateGood: false },
      "reopen",
    ],
    ["expired", "held: 60n, hasNew: true", { held: 60n, hasNew: true }, "review"],
    ["expired", "held: 60n, hasNew: true, coming: 40n", { held: 60n, hasNew: true, coming: 40n }, null],
    ["expired", "hasNew: true, hasStray: true", { hasNew: true, hasStray: true }, "review"],
    [
      "expired",
      "hasNew: true, hasStray: true, coming: 40n",
      { hasNew: true, hasStray: true, coming: 40n },
      "review",
    ],
    [
      "expired",
      "held: 100n, hasNew: true, isForeclosed: true",
      { held: 100n, hasNew: true, isForeclosed: true },
      "review",
    ],
    [
      "expired",
      "held: 100n, hasNew: true, isHeldByAgent: true",
      { held: 100n, hasNew: true, isHeldByAgent: true },
      null,
    ],
    ["expired", "", {}, null],
    ["failed", "held: 100n", { held: 100n }, null],
    ["failed", "held: 100n, hasNew: true", { held: 100n, hasNew: true }, "reopen"],
    ["cancelled", "held: 100n, hasNew: true", { held: 100n, hasNew: true }, "review"],
    ["cancelled", "held: 100n", { held: 100n }, null],
    ["cancelled", "hasNew: true, hasStray: true", { hasNew: true, hasStray: true }, "review"],
    ["cancelled", "hasNew: true", { hasNew: true }, null],
    ["cancelled", "", {}, null],
    ["reversed", "held: 60n", { held: 60n }, null],
    ["reversed", "held: 60n, coming: 40n", { held: 60n, coming: 40n }, "detect"],
    ["returned", "held: 100n, hasNew: true", { held: 100n, hasNew: true }, null],
  ] as const)("%s, %s", (state, _, over, expected) => {
    expect(step({ state, ...over })).toBe(expected);
  });

  it("is one that the table has, whatever is known", () => {
    const amount = fc.constantFrom(0n, 60n, 99n, 100n, 101n);
    const any = fc.record({
      state: fc.constantFrom(...clearingStates),
      now: fc.integer({ min: -1_000, max: 10_000 }).map(at),
      held: amount,
      coming: amount,
      timely: amount,
      hasLate: fc.boolean(),
      hasNew: fc.boolean(),
      hasStray: fc.boolean(),
      holdsStray: fc.boolean(),
      isRateGood: fc.boolean(),
      isHeldByAgent: fc.boolean(),
    });
    fc.assert(
      fc.property(any, (over) => {
        const found = decide({ ...standing, ...over });
        if (found) expect(() => advance(over.state, found.trigger)).not.toThrow();
        // nothing is credited that is not there
        if (found?.trigger === "receive" || found?.trigger === "reopen") expect(over.held >= 100n).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("looks at its window only while it waits for money", () => {
    expect(windowOf(standing)).toEqual(closesAt(expiresAt));
    expect(windowOf({ ...standing, coming: 1n })).toEqual(new Date(closesAt(expiresAt).getTime() + 624_000));
    for (const state of ["settled", "in-review", "expired", "failed"] as const)
      expect(windowOf({ ...standing, state })).toBe(null);
  });
});

describe("words about money", () => {
  it("late begins when the skew is over", () => {
    expect([isLate(at(60), expiresAt), isLate(at(60.001), expiresAt)]).toEqual([false, true]);
  });

  it("ten thousand dollars need a final block, below that the standard depth", () => {
    const depth = { standard: 12, high: 90 };
    expect(requiredFor(9_999_999_999n, depth)).toEqual({ confirmations: 12, mustBeFinal: false });
    expect(requiredFor(10_000_000_000n, depth)).toEqual({ confirmations: 90, mustBeFinal: true });
  });

  it("the tolerance is rounded in the merchant's favour", () => {
    expect(leastOf({ sourceAmount: 10_000_001n, toleranceBps: 100 })).toBe(9_900_001n);
    expect(leastOf({ sourceAmount: 10_000_000n, toleranceBps: 0 })).toBe(10_000_000n);
    expect([isDust(9_999n), isDust(10_000n)]).toEqual([true, false]);
  });
});
