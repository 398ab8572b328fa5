import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText } from "#kernel/text";
import { parsePrice, presentPrice, writtenAmount } from "../../../api/http/money.ts";

describe("money", () => {
  it.each([
    [10_000n, "USD", "0.01", "0.01 USD", "$0.01"],
    [1_234_500_000n, "USD", "1234.50", "1,234.50 USD", "$1,234.50"],
    [1n, "USD", "0.000001", "0.000001 USD", "$0.000001"],
    [9_990_000n, "EUR", "9.99", "9.99 EUR", "€9.99"],
    [1_234_500_000n, "USDC", "1234.500000", "1,234.50 USDC", "1,234.50 USDC"],
    [1_000_000_000_000n, "EURC", "1000000.000000", "1,000,000.00 EURC", "1,000,000.00 EURC"],
  ])("%s of %s", (amount, asset, shown, formatted, display) => {
    expect(presentPrice({ amount, asset })).toEqual({ amount: shown, asset, formatted, display });
  });

  it.each([
    ["9,99", "9.99"],
    ["0,5", "0.5"],
    ["1,000", "1,000"],
    ["1.000,50", "1.000,50"],
    ["12.50", "12.50"],
  ])("written as %s is read as %s", (written, read) => {
    expect(writtenAmount(written)).toBe(read);
  });

  it("comes back as it went out", () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 20n),
        fc.constantFrom("USD", "EUR", "USDC", "USDG", "EURC"),
        (amount, asset) => {
          const { amount: text } = presentPrice({ amount, asset });
          expect(parsePrice({ amount: text, asset }, "/price")).toEqual({ amount, asset });
        },
      ),
    );
  });

  it("with more decimals than the asset has is refused, not cut; zeros at the end are no decimals", () => {
    expect(() => parsePrice({ amount: "0.0000001", asset: "USD" }, "/price")).toThrow(/too_many_decimals/);
    expect(parsePrice({ amount: "0.0100000", asset: "USD" }, "/price")).toEqual({
      amount: 10_000n,
      asset: "USD",
    });
  });

  it.each(["JPY", "DAI", "usd", "__proto__", "constructor"])("in %s is refused", (asset) => {
    expect(() => parsePrice({ amount: "1", asset }, "/price")).toThrow(/currency_unsupported/);
  });
});

describe("merchant text", () => {
  it.each([
    ["two\nlines\r\n\tand a tab", "two lines and a tab"],
    ["right\u202eleft\u2066 zero\u200bwidth\ufeff", "rightleft zerowidth"],
    ["tag\u{e0041}\u{e007f} bell\u0007 c1\u0085", "tag bell c1"],
    ["<b>bold</b> and <script>alert(1)</script>", "bold and alert(1)"],
    ["<scr<b>ipt>x</script>", "ipt>x"],
    ["dat<b>a:text/html,x and [a](b", "and [a](b"],
    ["see [the docs](https://evil.example) ![i](x)", "see the docs i"],
    ["an icon data:image/png;base64,AAAA here", "an icon here"],
    ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["e\u0301", "\u00e9"],
    ["  spaced   out  ", "spaced out"],
  ])("%j → %j", (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it("is clean after one turn, however it is put together", () => {
    const pieces = [
      "<",
      ">",
      "b",
      "/",
      "data:",
      "dat",
      "a:",
      "[",
      "](",
      ")",
      "!",
      "\u202e",
      "\u200b",
      "\u{e0041}",
      "\n",
      " ",
      "e",
      "\u0301",
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary", maxLength: 200 })), (dirty) => {
        const cleaned = cleanText(dirty);
        expect(cleanText(cleaned)).toBe(cleaned);
        expect(cleaned).not.toMatch(
          /\p{Cc}|[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u,
        );
        expect(cleaned).not.toMatch(/<[a-z/!?]|\bdata:/i);
      }),
      { numRuns: 1_000 },
    );
  });
});
