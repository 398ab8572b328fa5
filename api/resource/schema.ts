import { z } from "@hono/zod-openapi";
import { Money, MoneyInput } from "../http/money.ts";
import { NamedRails } from "../merchant/schema.ts";

const MIME_TYPE = /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}$/;

const PaymentFlow = z.enum(["authorization", "upfront"]);

/** What a merchant sends to register an endpoint, or to register it anew. The token's domain and its transfer method
 *  are read off the contracts, so they cannot be entered. Source: interface §4, merchant-api.md §2.6. */
export const ResourceInput = z
  .strictObject({
    url: z.string().min(1).max(2_048).openapi({ example: "https://api.example.com/weather" }),
    price: MoneyInput,
    description: z.string().max(500).default(""),
    mimeType: z
      .string()
      .regex(MIME_TYPE, "a media type such as application/json")
      .default("application/json"),
    maxTimeoutSeconds: z.int().min(30).max(600).default(300),
    rails: NamedRails.default([]).openapi({
      description:
        "Chains by slug or CAIP-2 id, with an asset each, of those that the merchant takes; every one of these at " +
        "parity when left out",
    }),
    paymentFlow: PaymentFlow.default("authorization"),
    serviceName: z.string().max(200).optional(),
    tags: z.array(z.string().max(200)).max(50).optional(),
    iconUrl: z.string().max(4_096).optional(),
    extensions: z.strictObject({ bazaar: z.record(z.string(), z.unknown()).optional() }).optional(),
    listed: z
      .boolean()
      .optional()
      .openapi({ description: "False for a new one; unchanged when registered anew" }),
    probe: z.boolean().default(false).openapi({
      description: "Ask the endpoint now, and tell in findings what agents would meet there",
    }),
  })
  .openapi("ResourceInput");
export type ResourceInput = z.infer<typeof ResourceInput>;

/** A way to pay, in the merchant API's words: `asset` is a code here, `contract` the token. */
export const ResourceRail = z
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
  .openapi("ResourceRail");
export type ResourceRail = z.infer<typeof ResourceRail>;

const Timestamp = z.string().openapi({ format: "date-time" });

/** An x402 resource. Source: interface §2.13; what follows `accepts` is ours. */
export const Resource = z
  .object({
    id: z.string(),
    merchantId: z.string(),
    url: z.string(),
    description: z.string(),
    mimeType: z.string(),
    price: Money,
    maxTimeoutSeconds: z.int(),
    listed: z.boolean(),
    accepts: z.array(ResourceRail),
    paymentFlow: PaymentFlow,
    serviceName: z.string().nullable(),
    tags: z.array(z.string()),
    iconUrl: z.string().nullable(),
    extensions: z.record(z.string(), z.unknown()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Resource");
export type Resource = z.infer<typeof Resource>;

const Findings = z.array(z.object({ code: z.string(), detail: z.string() }));

export const RegisteredResource = Resource.extend({
  findings: Findings.openapi({ description: "What was left out of the discovery item, and what to change" }),
}).openapi("RegisteredResource");
export type RegisteredResource = z.infer<typeof RegisteredResource>;

/** What the merchant alone sees of the probes of a listed resource. */
export const ProbedResource = Resource.extend({
  lastProbe: z
    .object({
      at: Timestamp,
      status: z.int().nullable().openapi({ description: "Of its answer; null without one" }),
      ok: z.boolean().openapi({ description: "It answered as registered, and nothing has changed there" }),
      findings: Findings,
    })
    .nullable()
    .openapi({ description: "Null before the first; only what is listed is probed" }),
}).openapi("ProbedResource");
export type ProbedResource = z.infer<typeof ProbedResource>;

/** How an endpoint would fare as it is. */
export const ResourceTrial = z
  .object({
    ok: z.boolean().openapi({ description: "An agent could pay there what the body says" }),
    status: z
      .int()
      .nullable()
      .openapi({ description: "Of its answer to an unpaid request; null without one" }),
    at: Timestamp,
    findings: Findings.openapi({ description: "Everything that is wrong, and what to change" }),
  })
  .openapi("ResourceTrial");
export type ResourceTrial = z.infer<typeof ResourceTrial>;

export const Resources = z.object({ resources: z.array(Resource) }).openapi("Resources");
export const ResourcePath = z.object({ id: z.string() });
export type ResourcePath = z.infer<typeof ResourcePath>;
