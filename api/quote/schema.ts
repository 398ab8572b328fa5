import { z } from "@hono/zod-openapi";
import { Money, MoneyInput } from "../http/money.ts";
import { RateSource } from "../rate/schema.ts";

const AssetCode = z
  .string()
  .max(64)
  .regex(/^[^\p{C}\s]+$/u, "an asset code such as USDC or USDC@base")
  // A pattern of JSON Schema has no flags; this one says nearly as much without.
  .openapi({ pattern: "^\\S+$" });

/** What is asked of `POST /v1/quotes`. Source: interface §4. */
export const QuoteInput = z
  .strictObject({
    amount: MoneyInput,
    assets: z
      .array(AssetCode)
      .min(1)
      .max(20)
      .openapi({ example: ["USDC", "EURC@base"], description: "Payer assets, on a chain or on any" }),
  })
  .openapi("QuoteInput");
export type QuoteInput = z.infer<typeof QuoteInput>;

/** One payer asset. Source: interface §2.12. */
export const QuoteLine = z
  .object({
    asset: z.string(),
    amount: Money,
    rate: z.object({
      scaledRate: z
        .string()
        .openapi({ description: "Units of the asset for one of the source, as an integer times 10^18" }),
      source: RateSource,
    }),
    available: z.boolean(),
  })
  .openapi("QuoteLine");
export type QuoteLine = z.infer<typeof QuoteLine>;

export const Quote = z.object({ source: Money, quotes: z.array(QuoteLine) }).openapi("Quote");
export type Quote = z.infer<typeof Quote>;
