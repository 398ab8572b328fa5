import { z } from "@hono/zod-openapi";
import { Money } from "../http/money.ts";

/** One way to pay, exactly as a client signs for it. Source: interface §2.14, x402.md §2. */
export const PaymentRequirements = z
  .object({
    scheme: z.string().openapi({ example: "exact" }),
    network: z.string().openapi({ example: "eip155:8453", description: "CAIP-2" }),
    amount: z.string().openapi({ description: "Atomic units" }),
    asset: z.string().openapi({ description: "Token contract" }),
    payTo: z.string(),
    maxTimeoutSeconds: z.int(),
    extra: z.record(z.string(), z.unknown()),
  })
  .openapi("PaymentRequirements");
export type PaymentRequirements = z.infer<typeof PaymentRequirements>;

const ResourceInfo = z.object({
  url: z.string(),
  description: z.string(),
  mimeType: z.string(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.string().optional(),
});

export const PaymentRequired = z
  .object({
    x402Version: z.literal(2),
    resource: ResourceInfo,
    accepts: z.array(PaymentRequirements),
    extensions: z.record(z.string(), z.unknown()),
  })
  .openapi("PaymentRequired");
export type PaymentRequired = z.infer<typeof PaymentRequired>;

/** A rail in the merchant API's words: here `asset` is a code. */
export const Rail = z
  .object({
    chain: z.string(),
    asset: z.string(),
    contract: z.string(),
    payTo: z.string(),
    transferMethod: z.literal("eip3009"),
    domain: z.object({
      name: z.string(),
      version: z.string(),
      chainId: z.int(),
      verifyingContract: z.string(),
    }),
  })
  .openapi("OfferedRail");
export type Rail = z.infer<typeof Rail>;

export const PaymentRequiredLookup = PaymentRequired.extend({ price: Money, rails: z.array(Rail) }).openapi(
  "PaymentRequiredLookup",
);

const PaymentPayload = z.object({
  x402Version: z.int(),
  accepted: PaymentRequirements.partial({ extra: true, maxTimeoutSeconds: true }),
  payload: z.object({
    signature: z.string(),
    authorization: z.object({
      from: z.string(),
      to: z.string(),
      value: z.string(),
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: z.string(),
    }),
  }),
  resource: z.object({ url: z.string() }).optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
});

/** Of USDC on Base, as its `PAYMENT-REQUIRED` would offer it. */
const exampleOption = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "10000",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 300,
};

const examplePayment = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: { url: "https://api.example.com/weather" },
    accepted: exampleOption,
    payload: {
      signature: `0x${"1f".repeat(64)}1b`,
      authorization: {
        from: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
        to: exampleOption.payTo,
        value: exampleOption.amount,
        validAfter: "1786440000",
        validBefore: "1786440900",
        nonce: `0x${"2e".repeat(32)}`,
      },
    },
  },
  paymentRequirements: exampleOption,
};

/** Documents the body of verify and settle; `wire.ts` reads it, in both versions. */
export const PaymentBody = z
  .object({
    x402Version: z.int(),
    paymentPayload: PaymentPayload,
    paymentRequirements: PaymentRequirements.partial({ extra: true, maxTimeoutSeconds: true }).optional(),
  })
  .openapi("PaymentBody", { example: examplePayment });

export const VerifyResponse = z
  .object({
    isValid: z.boolean(),
    invalidReason: z.string().optional(),
    invalidMessage: z.string().optional(),
    payer: z.string().optional(),
  })
  .openapi("VerifyResponse");
export type VerifyResponse = z.infer<typeof VerifyResponse>;

export const SettleResponse = z
  .object({
    success: z.boolean(),
    errorReason: z.string().optional(),
    errorMessage: z.string().optional(),
    transaction: z.string(),
    network: z.string(),
    payer: z.string().optional(),
    amount: z.string().optional(),
    extra: z
      .object({
        paymentId: z.string(),
        statusUrl: z.string(),
        retryAfterSeconds: z.number(),
        chargeable: z.boolean(),
        settledAt: z.string(),
        settledBy: z.enum(["farebox", "third-party"]),
        receiptUrl: z.string().openapi({ description: "Of a paid intent, for its payer" }),
        replayed: z.boolean(),
      })
      .partial()
      .optional(),
  })
  .openapi("SettleResponse");
export type SettleResponse = z.infer<typeof SettleResponse>;

export const SupportedResponse = z
  .object({
    kinds: z.array(
      z.object({
        x402Version: z.int().openapi({ example: 2 }),
        scheme: z.string().openapi({ example: "exact" }),
        network: z.string().openapi({ example: "eip155:8453" }),
      }),
    ),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(z.string())),
  })
  .openapi("SupportedResponse");
export type SupportedResponse = z.infer<typeof SupportedResponse>;

export const SettlementStatusResponse = z
  .object({
    paymentId: z.string(),
    status: z.enum(["pending", "settled", "final", "failed", "expired", "cancelled", "review", "reversed"]),
    success: z.boolean(),
    errorReason: z.string().nullable(),
    transaction: z.string(),
    network: z.string(),
    payer: z.string(),
    block: z.int().nullable(),
    logIndex: z.int().nullable(),
    confirmations: z.int(),
    required: z.int(),
    chargeable: z.boolean(),
  })
  .openapi("SettlementStatus");

/** An entry of the discovery indexes. `accepts` is always x402's shape here. Source: agents.md §6.2. */
export const DiscoveryItem = z
  .object({
    resource: z.string(),
    type: z.enum(["http", "mcp"]).openapi({ description: "As its bazaar block says; `http` without one" }),
    x402Version: z.literal(2),
    accepts: z.array(PaymentRequirements),
    lastUpdated: z.string(),
    description: z.string(),
    mimeType: z.string(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()),
    iconUrl: z.string().optional(),
    extensions: z.record(z.string(), z.unknown()),
    id: z.string(),
    merchant: z.object({ id: z.string(), name: z.string() }),
    price: Money,
    rails: z.array(Rail),
    trust: z
      .object({
        host: z.string(),
        hostVerified: z.boolean().openapi({ description: "The host itself names the merchant" }),
        settledCount: z.int(),
        distinctPayers: z.int().openapi({ description: "Wallets that paid within 90 days" }),
        lastProbe: z
          .object({
            at: z.string(),
            status: z.int().nullable().openapi({ description: "Null when no answer came" }),
            ok: z.boolean().openapi({ description: "Its 402 offered what is registered" }),
          })
          .nullable(),
      })
      .openapi({ description: "Facts that the merchant cannot write" }),
    clientNotes: z.array(z.string()).openapi({ description: "What to know before signing, in our words" }),
    links: z.object({ paymentRequired: z.string(), verify: z.string(), settle: z.string() }),
  })
  .openapi("DiscoveryItem");
export type DiscoveryItem = z.infer<typeof DiscoveryItem>;

export const DiscoveryList = z
  .object({
    x402Version: z.literal(2),
    items: z.array(DiscoveryItem),
    resources: z.array(DiscoveryItem),
    pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int(), cursor: z.string().nullable() }),
  })
  .openapi("DiscoveryList");

export const DiscoverySearch = z
  .object({
    x402Version: z.literal(2),
    resources: z.array(DiscoveryItem),
    pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
  })
  .openapi("DiscoverySearch");
