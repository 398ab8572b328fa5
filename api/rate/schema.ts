import { z } from "@hono/zod-openapi";
import { Money } from "../http/money.ts";

/** Where a rate comes from. Source: merchant-api.md §3.6. */
export const RateSource = z.enum([
  "identity",
  "parity",
  "peg",
  "coinbase",
  "kraken",
  "median",
  "ecb",
  "fixed",
  "none",
]);
export type RateSource = z.infer<typeof RateSource>;

/** One price that a rate was made of; kept with every lock. */
export const RateInput = z.object({
  source: RateSource,
  /** Units of the second for one of the first, × 10^18, as digits. */
  pair: z.string(),
  scaled: z.string(),
  at: z.string(),
});
export type RateInput = z.infer<typeof RateInput>;

/** A rate as it was locked for a payment. Source: interface §2.3. */
export const LockedRate = z
  .object({
    from: z.string(),
    to: z.string(),
    scaledRate: z
      .string()
      .openapi({ description: "Units of `to` for one of `from`, as an integer times 10^18" }),
    source: RateSource,
    lockedAt: z.string().openapi({ format: "date-time" }),
  })
  .openapi("LockedRate");
export type LockedRate = z.infer<typeof LockedRate>;

/** How money may reach us. Source: interface §2.2. */
export const ExecutionPath = z.enum(["deposit-match", "on-chain-contract", "x402"]);
export type ExecutionPath = z.infer<typeof ExecutionPath>;

/** A token on a chain that payers can pay with here. */
export const Rail = z
  .object({
    chain: z.string(),
    network: z.string(),
    asset: z.string(),
    contract: z.string(),
    decimals: z.int(),
    settlementAsset: z
      .string()
      .openapi({ description: "What the merchant is credited: nothing is converted" }),
    executionPaths: z.array(ExecutionPath),
    transferMethod: z.literal("eip3009"),
    minimum: Money,
    confirmationsRequired: z.int().openapi({ description: "Of a deposit below 10,000 USD" }),
    estimatedSeconds: z.int().openapi({ description: "What those confirmations take" }),
  })
  .openapi("Rail");
export type Rail = z.infer<typeof Rail>;
export const Rails = z.array(Rail);

/** A unit that amounts may be written in. */
export const Currency = z
  .object({
    code: z.string(),
    kind: z.enum(["fiat", "stablecoin"]),
    name: z.string(),
    decimals: z.int(),
    sign: z.string().nullable(),
    peg: z.string().nullable().openapi({ description: "The currency it is worth exactly one of" }),
  })
  .openapi("Currency");
export type Currency = z.infer<typeof Currency>;
export const Currencies = z.array(Currency);
