import fc from "fast-check";
import { getAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  address,
  checksum,
  fromBytes,
  type Hex,
  hash,
  parseAddress,
  parseHash,
  parseHex,
  toBytes,
} from "#kernel/bytes";

const anyBytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const anyLower = anyBytes(20).map((bytes) => address(`0x${Buffer.from(bytes).toString("hex")}`));
const sample = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

describe("addresses", () => {
  it("are shown as viem shows them", () => {
    fc.assert(
      fc.property(anyLower, (lower) => {
        expect(checksum(lower)).toBe(getAddress(lower));
        expect(checksum(lower)).toBe(getAddress(lower)); // the remembered answer
      }),
    );
  });

  it("are read from lower, upper and checksummed text to one form", () => {
    fc.assert(
      fc.property(anyLower, (lower) => {
        const upper = `0x${lower.slice(2).toUpperCase()}`;
        expect([lower, upper, checksum(lower)].map(parseAddress)).toEqual([lower, lower, lower]);
      }),
    );
  });

  it("with one letter of a mixed-case text in the wrong case are none", () => {
    const letters = [...sample].flatMap((digit, at) => (at > 1 && /[a-f]/i.test(digit) ? [at] : []));
    for (const at of letters) {
      const digit = sample.charAt(at);
      const flipped = digit === digit.toUpperCase() ? digit.toLowerCase() : digit.toUpperCase();
      expect(parseAddress(sample.slice(0, at) + flipped + sample.slice(at + 1))).toBe(null);
    }
    expect(letters.length).toBeGreaterThan(10);
  });

  it.each<unknown>([
    "",
    "0x",
    sample.slice(2),
    `0X${sample.slice(2)}`,
    `${sample}0`,
    sample.slice(0, -1),
    `${sample}\n`,
    7,
    null,
    undefined,
    {},
  ])("are not in %j", (text) => {
    expect(parseAddress(text)).toBe(null);
  });

  it("throw where they are our own and wrong", () => {
    expect(() => address("0x12")).toThrow(TypeError);
  });
});

describe("hex", () => {
  it("goes to bytes and back, of any length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(new Uint8Array(toBytes(fromBytes(bytes)))).toEqual(bytes);
      }),
    );
  });

  it("of a view shows the view only", () => {
    expect(fromBytes(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe("0x0203");
  });

  it("is read to lower case", () => {
    expect(parseHex("0xABcd")).toBe("0xabcd" satisfies Hex);
    expect(parseHex("0x")).toBe("0x");
    expect(parseHash(`0x${"AB".repeat(32)}`)).toBe(`0x${"ab".repeat(32)}`);
  });

  it.each<unknown>(["", "0x1", "0xzz", "0X12", "12", " 0x12", "0x12\n", "0x１２", 18, null, undefined])(
    "is not in %j",
    (text) => {
      expect(parseHex(text)).toBe(null);
      expect(parseHash(text)).toBe(null);
    },
  );

  it("of 31 or 33 bytes is no hash", () => {
    expect(parseHash(`0x${"ab".repeat(31)}`)).toBe(null);
    expect(parseHash(`0x${"ab".repeat(33)}`)).toBe(null);
    expect(() => hash("0x12")).toThrow(TypeError);
  });
});
