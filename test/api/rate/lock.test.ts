import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rate } from "../../../api/rate/rates.ts";
import { ONE } from "../../../api/rate/scaled.ts";
import { RateSource } from "../../../api/rate/schema.ts";
import {
  convert,
  currentRate,
  lockOf,
  lockWindow,
  presentLockedRate,
  spread,
} from "../../../api/rate/verbs.ts";
import { start } from "./exchanges.ts";

const rate: Rate = {
  from: "EUR",
  to: "USDC",
  scaledRate: (ONE * 11n) / 10n,
  source: "median",
  inputs: [{ source: "kraken", pair: "EUR/USD", scaled: "1100000000000000000", at: start.toISOString() }],
};
const place = { id: "rate_01K2C0Z0000000000000000000", lockedAt: start } as const;
const merchantId = "mer_01K2C0Z0000000000000000000";

describe("a lock", () => {
  it("holds the rate, its margin and what it was made of, and is shown as a clearing shows it", () => {
    const row = lockOf({ merchantId, rate: spread(rate, 100) }, place);
    expect(row).toEqual({
      merchantId,
      ...place,
      fromAsset: "EUR",
      toAsset: "USDC",
      scaledRate: 1_111_000_000_000_000_000n,
      source: "median",
      spreadBps: 100,
      inputs: rate.inputs,
    });
    expect(presentLockedRate(row)).toEqual({
      from: "EUR",
      to: "USDC",
      scaledRate: "1111000000000000000",
      source: "median",
      lockedAt: "2026-08-11T09:30:00.000Z",
    });
  });

  it.each(["identity", "parity"] as const)("takes no margin on %s", (source) => {
    const exact = spread({ ...rate, scaledRate: ONE, source }, 300);
    const row = lockOf({ merchantId, rate: exact }, place);
    expect([row.scaledRate, row.spreadBps]).toEqual([ONE, 0]);
  });

  it.each(RateSource.exclude(["identity", "parity", "none"]).options)("takes the margin on %s", (source) => {
    const row = lockOf({ merchantId, rate: spread({ ...rate, scaledRate: ONE, source }, 300) }, place);
    expect([row.scaledRate, row.spreadBps]).toEqual([ONE + (ONE * 3n) / 100n, 300]);
  });

  it("of a rate from nowhere is a bug", () => {
    expect(() => lockOf({ merchantId, rate: { ...rate, source: "none" } }, place)).toThrow(/assertion/);
  });

  it.each(RateSource.options)("of %s lasts within its bounds", (source) => {
    const { seconds, least, most } = lockWindow(source);
    const isExact = source === "identity" || source === "parity";
    expect([seconds, least, most]).toEqual(isExact ? [1_800, 300, 86_400] : [900, 300, 3_600]);
  });
});

describe("converting", () => {
  it("is in whole pieces of the target, rounded up", () => {
    expect(convert({ amount: 1_000n, asset: "EUR" }, rate)).toEqual({ amount: 11_000_000n, asset: "USDC" });
    const yen = { from: "JPY", to: "USDC", scaledRate: ONE / 150n };
    expect(convert({ amount: 100n, asset: "JPY" }, yen)).toEqual({ amount: 666_667n, asset: "USDC" });
  });

  it("never comes to nothing, however small the amount", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, ONE), (amount, scaledRate) => {
        expect(convert({ amount, asset: "EUR" }, { ...rate, scaledRate }).amount > 0n).toBe(true);
      }),
    );
  });

  it("an amount of another unit is a bug", () => {
    expect(() => convert({ amount: 1n, asset: "USD" }, rate)).toThrow(/assertion/);
  });
});

describe("the rate of this moment", () => {
  it("is the one the port gives", async () => {
    const rates = { rate: async () => ({ ok: true, rate }) as const };
    expect(await currentRate({ rates }, { from: "EUR", to: "USDC" })).toBe(rate);
  });

  it("is a fault of kind dependency where nobody has one; why stays inside", async () => {
    const rates = { rate: async () => ({ ok: false, reason: "depegged" }) as const };
    const asked = currentRate({ rates }, { from: "EUR", to: "USDC" });
    await expect(asked).rejects.toMatchObject({
      code: "rate_unavailable",
      kind: "dependency",
      context: { reason: "depegged" },
      detail: expect.not.stringContaining("depeg"),
    });
  });
});
