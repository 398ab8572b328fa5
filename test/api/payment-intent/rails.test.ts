/** Which rail an amount is paid on, by what it costs there. */
import { describe, expect, it } from "vitest";
import { fixedRates } from "#api";
import type { RailFacts } from "#facilitator";
import type { AskedRail } from "../../../api/payment-intent/tables.ts";
import { checkFloor, priceRails, railsFor } from "../../../api/payment-intent/verbs/rails.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { clock, rail } from "../world.ts";

const rates = fixedRates({ clock, log: silentLog });
const penny = { amount: 1n, asset: "GBP" };
const railOf = (asset: string, minimum: bigint): RailFacts => ({ ...rail, asset, minimum });

describe("priceRails", () => {
  it("takes the first rail whose least amount it reaches, be it just", async () => {
    const { due } = await priceRails({ rates }, penny, [railOf("USDC", 1n)]);
    const taken = (least: bigint) =>
      priceRails({ rates }, penny, [railOf("EURC", due.amount), railOf("USDC", least)]);
    expect(await taken(due.amount)).toMatchObject({ rail: { asset: "USDC" }, due });
    await expect(taken(due.amount + 1n)).rejects.toMatchObject({ code: "amount_too_small" });
  });

  it("tells the least amount of all rails where it reaches none", async () => {
    const rails = [railOf("EURC", 60_000n), railOf("USDC", 40_000n), railOf("USDG", 50_000n)];
    await expect(priceRails({ rates }, penny, rails)).rejects.toMatchObject({
      code: "amount_too_small",
      context: { asset: "USDC", minimum: "0.040000", pointer: "/amount/amount" },
    });
  });
});

describe("railsFor", () => {
  it("tells what was asked for together where each of it has a rail, and no rail has both", () => {
    const rails = [railOf("USDC", 1n), railOf("EURC", 1n)];
    const choose = (asked: Partial<AskedRail>) => () =>
      railsFor(rails, { executionPath: "deposit-match", ...asked }, "USD");
    const told = (rail: string) => expect.objectContaining({ context: { rail, pointer: "/payment/asset" } });
    expect(choose({ asset: "EURC" })).not.toThrow();
    expect(choose({ settlementAsset: "USDC", asset: "EURC" })).toThrow(told("EURC together with USDC"));
    expect(choose({ asset: "DOGE" })).toThrow(told("DOGE"));
  });
});

describe("checkFloor", () => {
  it("takes what is the least amount of the rail that has the lowest, and nothing below", () => {
    const rails = [railOf("USDG", 30_000n), railOf("USDC", 20_000n)];
    const check = (amount: bigint) => () => checkFloor({ amount, asset: "USD" }, rails);
    expect(check(20_000n)).not.toThrow();
    expect(check(19_999n)).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ asset: "USDC" }) }),
    );
  });
});
