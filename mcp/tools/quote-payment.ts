import { z } from "zod";
import type { Facilitator } from "#facilitator";
import { amountOf } from "../present.ts";
import { success } from "../result.ts";
import { Amount, Next } from "../schema.ts";
import { defineTool } from "../tool.ts";

const Asset = z
  .string()
  .max(64)
  .regex(/^[^\p{C}\s]+$/u, "an asset such as USDC, or USDC@base");

export const quotePayment = defineTool({
  name: "quote_payment",
  title: "What an amount costs in each asset",
  description:
    "What an amount of a currency or stablecoin comes to in each asset you could pay with, and on which networks. " +
    "Indicative: only a 402 binds. Use it to choose an asset; not needed to pay, since get_payable and " +
    "get_payment_required name exact amounts. Amounts are decimal strings. An asset without a price is a line with " +
    'available false. Example: {"amount":"12.50","asset":"USD","assets":["USDC","EURC"]}.',
  input: z.strictObject({
    amount: z
      .string()
      .regex(/^(0|[1-9]\d{0,14})(\.\d{1,18})?$/, "a decimal string such as 12.50")
      .describe("Decimal string, such as 12.50"),
    asset: z.string().max(16).describe("Currency or stablecoin of the amount, such as USD"),
    assets: z.array(Asset).min(1).max(20).describe("What to pay with, such as USDC or USDC@base"),
  }),
  output: z.looseObject({
    source: z.looseObject({ decimal: z.string(), symbol: z.string() }),
    quotes: z.array(
      z.looseObject({
        asset: z.string(),
        available: z.boolean(),
        amount: Amount.optional(),
        networks: z.array(z.string()),
      }),
    ),
    indicative: z.literal(true),
    asOf: z.string(),
    next: Next,
  }),
  effect: "reads",
  rate: "lookup",
  async run({ facilitator, quote, clock }, { amount, asset, assets }) {
    const { quotes } = await quote({ amount: { amount, asset }, assets });
    return success({
      source: { decimal: amount, symbol: asset },
      quotes: quotes.map((line) => ({
        asset: line.asset,
        available: line.available,
        ...(line.available ? { amount: exact(line.amount.amount, line.asset), rate: line.rate.source } : {}),
        networks: line.available ? networksOf(facilitator, line.asset) : [],
      })),
      indicative: true,
      asOf: clock.now().toISOString(),
      next: {
        action: "done",
        text: "Nothing is reserved. What to sign is told by get_payable or get_payment_required.",
      },
    });
  },
});

/** A token's amount has all of its decimals, so the text tells how many there are. */
function exact(decimal: string, asset: string) {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return amountOf(BigInt(whole + fraction), fraction.length, symbolOf(asset));
}

function networksOf(facilitator: Facilitator, asset: string): string[] {
  const [, place] = asset.split("@");
  const rails = facilitator.rails().filter((rail) => rail.asset === symbolOf(asset));
  const there = rails.filter(({ chain, network }) => place === undefined || [chain, network].includes(place));
  return there.map(({ network }) => network);
}

function symbolOf(asset: string): string {
  return asset.split("@")[0] ?? asset;
}
