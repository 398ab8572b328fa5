import fc from "fast-check";
import { formatUnits, parseUnits } from "viem";
import { describe, expect, it } from "vitest";
import { formatDecimal, mulDivCeil, mulDivHalfEven, parseAtomic, parseDecimal } from "#kernel/money";

const limit = 1n << 128n;
const anyAtomic = fc.bigInt({ min: 0n, max: limit - 1n });
const anyDecimals = fc.integer({ min: 0, max: 18 });

describe("atomic amounts", () => {
  it("are read from their own digits", () => {
    fc.assert(
      fc.property(anyAtomic, (amount) => {
        expect(parseAtomic(amount.toString())).toBe(amount);
      }),
    );
  });

  it("end below 2^128", () => {
    expect(parseAtomic((limit - 1n).toString())).toBe(limit - 1n);
    expect(parseAtomic(limit.toString())).toBe(null);
    expect(parseAtomic("9".repeat(39))).toBe(null);
    expect(parseAtomic("1".repeat(40))).toBe(null);
  });

  it.each<unknown>([
    "",
    "00",
    "01",
    "-1",
    "-0",
    "+1",
    "1.0",
    ".5",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "1\n",
    "1\0",
    "１",
    "١",
    "1_0",
    1,
    1n,
    null,
    undefined,
    ["1"],
  ])("are not in %s", (text) => {
    expect(parseAtomic(text)).toBe(null);
  });
});

describe("decimal amounts", () => {
  it("shown and read again are the same, at any number of decimals", () => {
    // 15 digits before the point are what a price may have
    const anyCase = anyDecimals.chain((decimals) =>
      fc.record({
        decimals: fc.constant(decimals),
        amount: fc.bigInt({ min: 0n, max: 10n ** BigInt(15 + decimals) - 1n }),
      }),
    );
    fc.assert(
      fc.property(anyCase, ({ amount, decimals }) => {
        expect(parseDecimal(formatDecimal(amount, decimals), decimals)).toBe(amount);
      }),
    );
  });

  it("are read as viem reads them", () => {
    const digits = fc.stringMatching(/^[0-9]{1,6}$/);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), digits, (whole, fraction) => {
        const text = `${whole}.${fraction}`;
        expect(parseDecimal(text, 6)).toBe(parseUnits(text, 6));
      }),
    );
  });

  it("are shown with exactly the asset's decimals", () => {
    expect(formatDecimal(1_500_000n, 6)).toBe("1.500000");
    expect(formatDecimal(1n, 6)).toBe("0.000001");
    expect(formatDecimal(0n, 2)).toBe("0.00");
    expect(formatDecimal(15n, 0)).toBe("15");
    expect(formatDecimal(-1n, 6)).toBe("-0.000001");
    expect(formatDecimal(-2_500_000n, 6)).toBe("-2.500000");
    fc.assert(
      fc.property(anyAtomic, anyDecimals, (amount, decimals) => {
        const shown = formatDecimal(amount, decimals);
        expect(shown.split(".")[1]?.length ?? 0).toBe(decimals);
        expect(parseUnits(shown, decimals)).toBe(parseUnits(formatUnits(amount, decimals), decimals));
      }),
    );
  });

  it("with more digits than the asset has are refused, never cut", () => {
    expect(parseDecimal("0.0000001", 6)).toBe("too_many_decimals");
    expect(parseDecimal("1.5", 0)).toBe("too_many_decimals");
  });

  it("may carry zeros that mean nothing", () => {
    expect(parseDecimal("1.500000000", 6)).toBe(1_500_000n);
    expect(parseDecimal("2.0", 0)).toBe(2n);
    expect(parseDecimal("1", 6)).toBe(1_000_000n);
  });

  it.each([
    "",
    ".",
    "1.",
    ".5",
    "-1",
    "+1",
    "01",
    "1e3",
    "1,5",
    "0x1",
    " 1",
    "1 ",
    "1\n",
    "１",
    "Infinity",
    "1".repeat(16),
    `0.${"1".repeat(19)}`,
  ])("are not in %j", (text) => {
    expect(parseDecimal(text, 18)).toBe("not_a_decimal");
  });
});

describe("rounding", () => {
  it.each([
    [5n, 1n, 2n, 2n],
    [7n, 1n, 2n, 4n],
    [1n, 1n, 2n, 0n],
    [3n, 1n, 2n, 2n],
    [10n, 1n, 3n, 3n],
    [11n, 1n, 3n, 4n],
    [0n, 50n, 10_000n, 0n],
    [100n, 50n, 10_000n, 0n],
    [300n, 50n, 10_000n, 2n],
    [1_000_000n, 50n, 10_000n, 5_000n],
  ])("half to even: %d × %d ÷ %d is %d", (amount, numerator, denominator, expected) => {
    expect(mulDivHalfEven(amount, numerator, denominator)).toBe(expected);
  });

  it("half to even is never more than half a unit away, and even at the half", () => {
    const anyPart = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(
      fc.property(anyAtomic, anyPart, anyPart, (amount, numerator, denominator) => {
        const rounded = mulDivHalfEven(amount, numerator, denominator);
        const error = 2n * (rounded * denominator - amount * numerator);
        const distance = error < 0n ? -error : error;
        expect(distance <= denominator).toBe(true);
        if (distance === denominator) expect(rounded % 2n).toBe(0n);
      }),
    );
  });

  it("up gives the least whole that is enough", () => {
    const anyPart = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(
      fc.property(anyAtomic, anyPart, anyPart, (amount, numerator, denominator) => {
        const rounded = mulDivCeil(amount, numerator, denominator);
        expect(rounded * denominator >= amount * numerator).toBe(true);
        expect((rounded - 1n) * denominator < amount * numerator).toBe(true);
      }),
    );
  });
});
