import { z } from "zod";
import { priceDecimals } from "#kernel/asset";
import { parseDecimal } from "#kernel/money";
import { amountOf } from "../present.ts";
import { failure, success } from "../result.ts";
import { Amount, Next } from "../schema.ts";
import { defineTool } from "../tool.ts";

export const quotePayment = defineTool({
  name: "quote_payment",
  title: "What an amount costs in each asset",
  description:
    "What an amount of a currency or stablecoin comes to in each asset you could pay with, and on which networks. " +
    "Indicative: only a 402 binds. Use it to choose an asset; not needed to pay, since get_payable and " +
    "get_payment_required name exact amounts. Amounts are decimal strings. An asset without a price is a line with " +
    'available false. Example: {"amount":"12.50","asset":"USD","assets":["USDC","EURC"]}.',
  input: z.strictObject({
    amount: z.string().max(40).describe("Decimal string, such as 12.50"),
    asset: z.string().max(16).describe("Currency or stablecoin of the amount, such as USD"),
    assets: z
      .array(z.string().min(1).max(16))
      .min(1)
      .max(20)
      .describe("Stablecoins to pay with, such as USDC"),
  }),
  output: z.looseObject({
    source: Amount,
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
  async run({ facilitator, clock }, { amount, asset, assets }) {
    const decimals = Object.hasOwn(priceDecimals, asset) ? priceDecimals[asset] : undefined;
    const known = Object.keys(priceDecimals).join(", ");
    if (decimals === undefined)
      return failure("asset_unsupported", `Nothing is priced in that asset here. Use one of ${known}.`);
    const atomic = parseDecimal(amount, decimals);
    if (typeof atomic !== "bigint" || atomic === 0n)
      return failure(
        "invalid_arguments",
        `amount must be a decimal above 0 with at most ${decimals} decimals. Correct it and call again.`,
      );
    const lines = facilitator.estimate({ amount: atomic, asset }, assets);
    return success({
      source: amountOf(atomic, decimals, asset),
      quotes: lines.map(({ coin, amount: price, networks }) => ({
        asset: coin,
        available: price !== null,
        ...(price === null ? {} : { amount: amountOf(price.atomic, price.decimals, coin) }),
        networks,
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
