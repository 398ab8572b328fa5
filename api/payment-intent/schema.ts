import { z } from "@hono/zod-openapi";
import { pegs, type Stablecoin } from "#kernel/asset";
import { parseAddress } from "#kernel/bytes";
import { CountryCode } from "../http/country.ts";
import { Money, MoneyInput } from "../http/money.ts";
import { Email, Instant, line, Metadata, Timestamp } from "../http/text.ts";
import { ExecutionPath } from "../rate/schema.ts";
import { failureReasons, intentSources, intentStatuses, providers } from "./state.ts";

/** The seller as it is printed on receipts; what is left out comes from the merchant's record. */
export const MerchantRefInput = z
  .strictObject({
    id: z.string().max(40),
    name: line(140),
    city: line(140),
    countryCode: CountryCode,
  })
  .partial()
  .openapi("MerchantRefInput");
export type MerchantRefInput = z.infer<typeof MerchantRefInput>;

export const MerchantRef = z
  .object({
    id: z.string(),
    name: z.string(),
    city: z.string(),
    countryCode: z.string(),
    categoryCode: z.string().nullable(),
  })
  .openapi("MerchantRef");

/** How the payer means to pay, as far as that is known. */
export const PaymentChoice = z
  .strictObject({
    asset: z.string().min(1).max(16).openapi({ example: "USDC" }),
    chain: z.string().min(1).max(64).openapi({ description: "Slug or CAIP-2 id", example: "base" }),
    payerAddress: z
      .string()
      .refine((text) => parseAddress(text) !== null, "an address; a mixed-case one with a right checksum")
      .openapi({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" }),
  })
  .partial()
  .openapi("PaymentChoice");
export type PaymentChoice = z.infer<typeof PaymentChoice>;

const Customer = z.strictObject({ email: Email.optional(), name: line(140).optional() });
const Stablecoins = z.enum(Object.keys(pegs) as [Stablecoin, ...Stablecoin[]]);
const Provider = z.enum(providers);

/** A request to be paid. Source: merchant-api.md §2.1. */
export const PaymentIntentInput = z
  .strictObject({
    amount: MoneyInput,
    merchant: MerchantRefInput.optional(),
    settlementAsset: Stablecoins.optional().openapi({ description: "Only rails of this asset are offered" }),
    executionPath: ExecutionPath.default("deposit-match"),
    provider: Provider.default("evm"),
    payment: PaymentChoice.optional(),
    merchantReference: line(128).optional(),
    metadata: Metadata.optional(),
    expiresInSeconds: z
      .int()
      .min(300)
      .max(2_592_000)
      .optional()
      .openapi({ description: "How long it can be confirmed, and the order be paid; 3600 when left out" }),
    customer: Customer.optional(),
    returnUrl: z
      .string()
      .max(2_048)
      .optional()
      .openapi({ description: "Where the payer goes afterwards: a page of one of the merchant's origins" }),
  })
  .openapi("PaymentIntentInput");
export type PaymentIntentInput = z.infer<typeof PaymentIntentInput>;

/** Source: interface §2.2; what follows `completedAt` is ours. */
export const PaymentIntent = z
  .object({
    id: z.string().openapi({ example: "pi_01K2C0Z0000000000000000000" }),
    status: z.enum(intentStatuses),
    merchant: MerchantRef,
    amount: Money,
    settlementAsset: z.string().nullable().openapi({
      description: "What the merchant is credited in; null until confirm, unless it was asked for",
    }),
    provider: Provider,
    payment: z.object({
      asset: z.string().nullable(),
      chain: z.string().nullable(),
      payerAddress: z.string().nullable().openapi({ description: "Declared, or learned from the money" }),
    }),
    executionPath: ExecutionPath.nullable().openapi({ description: "The path taken; null until confirm" }),
    source: z.enum(intentSources),
    metadata: z.record(z.string(), z.string()),
    merchantReference: z.string().nullable(),
    clearingTransactionId: z.string().nullable(),
    failureReason: z.enum(failureReasons).nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    expiresAt: Timestamp.openapi({
      description: "Until then it can be confirmed; once confirmed, until then the order can be paid",
    }),
    confirmedAt: Timestamp.nullable(),
    completedAt: Timestamp.nullable().openapi({ description: "Kept when the payment is later reversed" }),
    checkoutUrl: z.string().openapi({ description: "The page where a person pays" }),
    returnUrl: z.string().nullable(),
    customer: z.object({ email: z.string().nullable(), name: z.string().nullable() }).nullable(),
  })
  .openapi("PaymentIntent");
export type PaymentIntent = z.infer<typeof PaymentIntent>;

export const PaymentIntents = z.array(PaymentIntent);

export const PaymentIntentPath = z.object({
  id: z.string().max(40).openapi({ example: "pi_01K2C0Z0000000000000000000" }),
});
export type PaymentIntentPath = z.infer<typeof PaymentIntentPath>;

/** What a list of intents may be narrowed by. */
export const PaymentIntentFilter = z.object({
  status: z.enum(intentStatuses).optional(),
  source: z.enum(intentSources).optional(),
  merchantReference: line(128, 0).optional(),
  createdFrom: Instant.optional(),
  createdTo: Instant.optional().openapi({ description: "Exclusive" }),
});
export type PaymentIntentFilter = z.infer<typeof PaymentIntentFilter>;
