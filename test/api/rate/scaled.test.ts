import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addBps, disagree, divide, median, ONE, parseScaled, toAtomic } from "../../../api/rate/scaled.ts";

const amount = fc.bigInt(0n, 10n ** 21n);
const rate = fc.bigInt(1n, 10n ** 24n);
const decimals = fc.constantFrom(0, 2, 6);

describe("toAtomic", () => {
  it.each([
    ["10.00 USD in USDC at 1", 1_000n, ONE, 2, 6, 10_000_000n],
    ["1000 JPY in USDC at 0.0065", 1_000n, 6_500_000_000_000_000n, 0, 6, 6_500_000n],
    ["0.01 EUR in USDC at 1.0825", 1n, 1_082_500_000_000_000_000n, 2, 6, 10_825n],
    ["a third of a piece is a whole one", 1n, ONE / 3n, 6, 6, 1n],
    ["nothing", 0n, ONE, 2, 6, 0n],
  ])("%s", (_what, given, scaledRate, fromDecimals, toDecimals, expected) => {
    expect(toAtomic(given, { scaledRate, fromDecimals, toDecimals })).toBe(expected);
  });

  it("never leaves the merchant short, and asks for less than one piece too much", () => {
    fc.assert(
      fc.property(amount, rate, decimals, decimals, (given, scaledRate, fromDecimals, toDecimals) => {
        const got = toAtomic(given, { scaledRate, fromDecimals, toDecimals });
        // Exact worth, as a fraction: given × rate × 10^to over 10^from × 10^18.
        const worth = given * scaledRate * 10n ** BigInt(toDecimals);
        const piece = 10n ** BigInt(fromDecimals) * ONE;
        expect(got * piece >= worth).toBe(true);
        expect((got - 1n) * piece < worth).toBe(true);
      }),
    );
  });

  it("goes in the direction of the rate: more of a unit that is worth less", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 15n), rate, (given, scaledRate) => {
        const scale = { fromDecimals: 6, toDecimals: 6 };
        const got = toAtomic(given, { scaledRate, ...scale });
        if (scaledRate >= ONE) expect(got >= given).toBe(true);
        else expect(got <= given).toBe(true);
        expect(toAtomic(given, { scaledRate: scaledRate + 1n, ...scale }) >= got).toBe(true);
        expect(toAtomic(given + 1n, { scaledRate, ...scale }) >= got).toBe(true);
      }),
    );
  });

  it("there and back by the inverse rate comes to no less", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 15n), fc.bigInt(10n ** 12n, 10n ** 24n), (given, scaledRate) => {
        const there = toAtomic(given, { scaledRate, fromDecimals: 6, toDecimals: 6 });
        const back = toAtomic(there, {
          scaledRate: divide(ONE, scaledRate),
          fromDecimals: 6,
          toDecimals: 6,
        });
        expect(back >= given).toBe(true);
      }),
    );
  });
});

describe("parseScaled", () => {
  it.each([
    ["1", ONE],
    ["1.0825", 1_082_500_000_000_000_000n],
    ["0.000000000000000001", 1n],
    ["0.0000607000000000000000001", 60_700_000_000_000n],
  ])("%s", (text, scaled) => {
    expect(parseScaled(text)).toBe(scaled);
  });

  it.each([
    "",
    "0",
    "0.00",
    "-1",
    "+1",
    "1e3",
    "1,5",
    " 1",
    "NaN",
    "Infinity",
    "0x1",
    "1.",
    ".5",
    `${"9".repeat(16)}`,
  ])("%j is no price", (text) => {
    expect(parseScaled(text)).toBeNull();
  });

  it("reads what has at most 18 decimals exactly", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 33n - 1n), (scaled) => {
        const digits = scaled.toString().padStart(19, "0");
        expect(parseScaled(`${digits.slice(0, -18)}.${digits.slice(-18)}`)).toBe(scaled);
      }),
    );
  });
});

describe("median", () => {
  it("of nothing is a bug", () => {
    expect(() => median([])).toThrow(RangeError);
  });

  it("has as many values at or below it as at or above, and does not depend on their order", () => {
    const values = fc.array(rate, { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(values, (some) => {
        const middle = median(some);
        const half = Math.ceil(some.length / 2);
        expect(some.filter((value) => value <= middle).length).toBeGreaterThanOrEqual(half);
        expect(some.filter((value) => value >= middle).length).toBeGreaterThanOrEqual(
          Math.floor(some.length / 2),
        );
        expect(median([...some].reverse())).toBe(middle);
        if (some.length % 2 === 1) expect(some).toContain(middle);
      }),
    );
  });

  it("of two is halfway, rounded up", () => {
    expect(median([1n, 4n])).toBe(3n);
  });
});

describe("disagree", () => {
  it.each([
    ["100000", false],
    ["100000 101500", false],
    ["100000 101501", true],
    ["101501 100500 100000", true],
  ])("%s by more than 1.5 percent: %s", (values, expected) => {
    expect(disagree(values.split(" ").map(BigInt), 150)).toBe(expected);
  });
});

describe("addBps", () => {
  it("adds at least its part, and less than one more", () => {
    fc.assert(
      fc.property(rate, fc.integer({ min: 0, max: 300 }), (given, bps) => {
        const got = addBps(given, bps);
        const exact = given * (10_000n + BigInt(bps));
        expect(got * 10_000n >= exact && (got - 1n) * 10_000n < exact).toBe(true);
      }),
    );
  });
});
