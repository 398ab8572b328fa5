import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { currencies } from "../../../api/http/currency.ts";
import { MoneyInput, parseAmount, presentAmount } from "../../../api/http/money.ts";

const codes = currencies.map(({ code }) => code);

describe("an amount", () => {
  it.each([
    [1_000n, "USD", "10.00", "10.00 USD", "$10.00"],
    [123_450n, "USD", "1234.50", "1,234.50 USD", "$1,234.50"],
    [999n, "EUR", "9.99", "9.99 EUR", "€9.99"],
    [5n, "GBP", "0.05", "0.05 GBP", "£0.05"],
    [1_000n, "JPY", "1000", "1,000 JPY", "¥1,000"],
    [12n, "KRW", "12", "12 KRW", "₩12"],
    [1_234_567n, "ISK", "1234567", "1,234,567 ISK", "1,234,567 ISK"],
    [150_000n, "CHF", "1500.00", "1,500.00 CHF", "1,500.00 CHF"],
    [100n, "CAD", "1.00", "1.00 CAD", "CA$1.00"],
    [10_000_000n, "USDC", "10.000000", "10.00 USDC", "10.00 USDC"],
    [1_234_567_891n, "EURC", "1234.567891", "1,234.567891 EURC", "1,234.567891 EURC"],
    [0n, "USDG", "0.000000", "0.00 USDG", "0.00 USDG"],
  ])("%s of %s", (amount, asset, shown, formatted, display) => {
    expect(presentAmount({ amount, asset })).toEqual({ amount: shown, asset, formatted, display });
  });

  it("comes back as it went out, in every currency", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n - 1n), fc.constantFrom(...codes), (amount, asset) => {
        const shown = presentAmount({ amount, asset });
        expect(parseAmount({ amount: shown.amount, asset }, "/amount")).toEqual({ amount, asset });
        expect(shown.formatted.endsWith(` ${asset}`)).toBe(true);
      }),
    );
  });

  it.each([
    ["0.001", "USD"],
    ["0.5", "JPY"],
    ["1.1", "KRW"],
    ["0.0000001", "USDC"],
  ])("%s %s has more decimals than there are, and is refused", (amount, asset) => {
    expect(() => parseAmount({ amount, asset }, "/amount")).toThrow(/too_many_decimals/);
  });

  it("may end in zeros that mean nothing", () => {
    expect(parseAmount({ amount: "5.000", asset: "JPY" }, "/amount")).toEqual({ amount: 5n, asset: "JPY" });
  });

  it.each(["DAI", "usd", "XAU", "__proto__", "toString"])("in %s is refused, with what is known", (asset) => {
    expect(() => parseAmount({ amount: "1", asset }, "/amount")).toThrow(
      /currency_unsupported.*USD, EUR.*EURC/,
    );
    expect(() => parseAmount({ amount: "1", asset }, "/amount")).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ pointer: "/amount/asset" }) }),
    );
  });

  it.each(["+1", "-1", "1e3", "01", "1.", ".5", "1,000", " 1", "1".repeat(16)])(
    "%j is refused, with how amounts are written",
    (amount) => {
      const [issue] = MoneyInput.safeParse({ amount, asset: "USD" }).error?.issues ?? [];
      expect(issue?.message).toMatch(/such as 0\.01: .*no sign.*leading zero.*at most 15 digits/);
    },
  );
});

describe("the currencies", () => {
  it("are the 30 of the ECB, two dollar pegs and three stablecoins, each once", () => {
    expect(codes).toHaveLength(35);
    expect(new Set(codes).size).toBe(35);
    expect(currencies.filter(({ decimals }) => decimals === 0).map(({ code }) => code)).toEqual([
      "JPY",
      "ISK",
      "KRW",
    ]);
  });

  it("have signs that no two share, so that a person cannot take one for the other", () => {
    const signs = currencies.flatMap(({ sign }) => sign ?? []);
    expect(new Set(signs).size).toBe(signs.length);
  });
});
