import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { address, checksum } from "#kernel/bytes";
import {
  inToken,
  optionsOf,
  preferWorking,
  selectOption,
} from "../../../facilitator/payable/requirements.ts";
import { asOf } from "../../../facilitator/payable/row.ts";
import { chainOf, offered, payableOf } from "./shapes.ts";

const base = chainOf({ slug: "base", chainId: 8453 });
const ink = chainOf({ slug: "ink", chainId: 57073 });
const usdc = address(`0x${"c1".repeat(20)}`);
const eurc = address(`0x${"c2".repeat(20)}`);
const usdg = address(`0x${"c3".repeat(20)}`);
const rails = [
  offered(ink, { symbol: "USDG", contract: usdg }),
  offered(base, { symbol: "EURC", contract: eurc }),
  offered(base, { symbol: "USDC", contract: usdc }),
];
const symbols = (changes: Parameters<typeof payableOf>[0], on = rails) =>
  optionsOf(payableOf(changes), on).map(({ symbol }) => symbol);

describe("the options of a payable", () => {
  it("are the rails at parity with its price, USDC first", () => {
    expect(symbols({ price: { amount: 1n, asset: "USD" } })).toEqual(["USDC", "USDG"]);
    expect(symbols({ price: { amount: 1n, asset: "EUR" } })).toEqual(["EURC"]);
    expect(symbols({ price: { amount: 1n, asset: "USDG" } })).toEqual(["USDG"]);
  });

  it("are only the chosen rails, where some were chosen", () => {
    expect(symbols({ rails: [{ chain: "ink", asset: "USDG" }] })).toEqual(["USDG"]);
    expect(symbols({ rails: [{ chain: "ink", asset: "USDC" }] })).toEqual([]);
  });

  it("leave out a rail below the chain's dust floor", () => {
    const dusty = offered(chainOf({ slug: "eth", chainId: 1, dustFloor: 10_001n }), {
      symbol: "USDC",
      contract: usdc,
    });
    expect(symbols({ price: { amount: 10_000n, asset: "USD" } }, [dusty])).toEqual([]);
    expect(symbols({ price: { amount: 10_001n, asset: "USD" } }, [dusty])).toEqual(["USDC"]);
  });

  it("carry everything that a signature must match", () => {
    expect(optionsOf(payableOf({ maxTimeoutSeconds: 60 }), rails)[0]).toEqual({
      scheme: "exact",
      network: "eip155:8453",
      chain: "base",
      symbol: "USDC",
      asset: usdc,
      amount: 10_000n,
      payTo: base.treasury,
      maxTimeoutSeconds: 60,
      transferMethod: "eip3009",
      domain: { name: "USDC name", version: "2" },
    });
  });

  it("are shown without those of chains that stand still, unless all do", () => {
    const options = optionsOf(payableOf(), rails);
    const shown = (...working: string[]) =>
      preferWorking(options, new Set(working)).map(({ network }) => network);
    expect(shown("eip155:8453", "eip155:57073")).toEqual(["eip155:8453", "eip155:57073"]);
    expect(shown("eip155:57073")).toEqual(["eip155:57073"]);
    expect(shown()).toEqual(["eip155:8453", "eip155:57073"]);
  });

  it("cost the price at the token's decimals, rounded up and never by more than one unit", () => {
    expect(inToken(10_000n, "USD", 6)).toBe(10_000n);
    expect(inToken(10_000n, "USD", 18)).toBe(10n ** 16n);
    expect(inToken(10_001n, "USD", 2)).toBe(2n);
    fc.assert(
      fc.property(fc.bigInt(1n, 1n << 90n), fc.integer({ min: 0, max: 18 }), (price, decimals) => {
        const paid = inToken(price, "USD", decimals) * 10n ** 6n;
        const owed = price * 10n ** BigInt(decimals);
        expect(paid >= owed && paid - owed < 10n ** 6n).toBe(true);
      }),
    );
  });
});

describe("a payable at some time", () => {
  it("is closed from when its time is over, unless something closed it before", () => {
    const expiresAt = new Date("2026-08-11T10:00:00.000Z");
    const [before, after] = [-1, 1].map((ms) => new Date(expiresAt.getTime() + ms)) as [Date, Date];
    const open = payableOf({ expiresAt });
    const paid = payableOf({ expiresAt, closedAt: before, closedAs: "paid" });
    expect(asOf(open, before)).toBe(open);
    for (const now of [expiresAt, after])
      expect(asOf(open, now)).toEqual({ ...open, closedAt: expiresAt, closedAs: "expired" });
    expect(asOf(paid, after)).toBe(paid);
  });
});

describe("selecting an option", () => {
  const options = optionsOf(payableOf(), rails);
  const selection = {
    scheme: "exact",
    network: "eip155:8453",
    asset: usdc,
    amount: "10000",
    payTo: base.treasury,
  };

  it("goes by meaning: the letter case of addresses does not matter", () => {
    for (const asset of [usdc, checksum(usdc), `0x${usdc.slice(2).toUpperCase()}`])
      expect(selectOption(options, { ...selection, asset, payTo: checksum(base.treasury) })).toBe(options[0]);
  });

  it.each([
    ["scheme", "upto"],
    ["network", "eip155:57073"],
    ["network", "base"],
    ["asset", usdg],
    ["asset", "USDC"],
    ["amount", "9999"],
    ["amount", "10001"],
    ["amount", "010000"],
    ["amount", "1e4"],
    ["amount", " 10000"],
    ["payTo", usdc],
    ["payTo", ""],
  ])("finds none for another %s: %s", (word, other) => {
    expect(selectOption(options, { ...selection, [word]: other })).toBeNull();
  });
});
