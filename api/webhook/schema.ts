import { z } from "@hono/zod-openapi";
import { Instant } from "../http/text.ts";
import { deliveryStates, disabledReasons } from "./state.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });
const CONTROL = /\p{Cc}/u;

/** An event as it is delivered, and as it is listed. Source: merchant-api.md §6.2. */
export const Event = z
  .object({
    id: z.string().openapi({ example: "evt_01K2C0Z0000000000000000000" }),
    type: z.string().openapi({ example: "payment.completed" }),
    timestamp: Timestamp.openapi({ description: "When it happened" }),
    apiVersion: z.string().openapi({ example: "2026-08-11", description: "The revision of `data`" }),
    sequence: z.int().openapi({
      description:
        "Grows with each event of a merchant, with gaps; of one object the greater one is the newer",
    }),
    data: z.object({
      object: z.record(z.string(), z.unknown()).openapi({
        description: "What it is about, as its endpoints answer it, at the time when the event was written",
      }),
      previous: z
        .record(z.string(), z.unknown())
        .nullable()
        .openapi({ description: "What was so before, as far as it changed" }),
    }),
  })
  .openapi("Event");
export type Event = z.infer<typeof Event>;

export const EventPath = z.object({
  id: z.string().max(40).openapi({ example: "evt_01K2C0Z0000000000000000000" }),
});
export type EventPath = z.infer<typeof EventPath>;

const PATTERN = /^(?:\*|[a-z0-9_]+(?:\.[a-z0-9_]+)*(?:\.\*)?)$/;
const MAX_PATTERNS = 64;
const pattern = z.string().max(64).regex(PATTERN, "a type, a family such as payment.*, or *");

export const EventFilter = z.object({
  types: z
    .string()
    .max(1_000)
    .transform((text) => text.split(","))
    .pipe(z.array(pattern).max(MAX_PATTERNS))
    .optional()
    .openapi({
      type: "string",
      description: "Types or families, separated by commas",
      example: "payment.*,refund.succeeded",
    }),
  createdFrom: Instant.optional(),
  createdTo: Instant.optional().openapi({ description: "Exclusive" }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "asc: oldest first" }),
});
export type EventFilter = z.infer<typeof EventFilter>;

const Url = z.string().min(1).max(2_048).openapi({ example: "https://shop.example/webhooks" });
const Patterns = z
  .array(pattern)
  .min(1)
  .max(MAX_PATTERNS)
  .openapi({
    type: "array",
    items: { type: "string" },
    description: "Types (payment.completed), families (payment.*), or * for everything",
    example: ["payment.*", "refund.succeeded"],
  });
const Description = z
  .string()
  .max(140)
  .transform((text) => text.normalize("NFC").trim())
  .refine((text) => !CONTROL.test(text), "text without control characters")
  .openapi({ type: "string", maxLength: 140 });

export const WebhookEndpointInput = z
  .strictObject({
    url: Url,
    events: Patterns,
    description: Description.default(""),
    enabled: z.boolean().default(true),
  })
  .openapi("WebhookEndpointInput");
export type WebhookEndpointInput = z.infer<typeof WebhookEndpointInput>;

export const WebhookEndpointChange = z
  .strictObject({ url: Url, events: Patterns, description: Description, enabled: z.boolean() })
  .partial()
  .openapi("WebhookEndpointChange");
export type WebhookEndpointChange = z.infer<typeof WebhookEndpointChange>;

export const WebhookEndpoint = z
  .object({
    id: z.string().openapi({ example: "whe_01K2C0Z0000000000000000000" }),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string(),
    enabled: z.boolean(),
    disabledReason: z
      .enum(disabledReasons)
      .nullable()
      .openapi({ description: "requested, gone (it answered 410), or failing (for five days)" }),
    disabledAt: Timestamp.nullable(),
    apiVersion: z.string().openapi({ description: "The revision that it is sent, pinned when it was made" }),
    failingSince: Timestamp.nullable().openapi({ description: "First failure after the last success" }),
    lastSuccessAt: Timestamp.nullable().openapi({ description: "To within a minute" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("WebhookEndpoint");
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

/** The only answers that hold a secret. */
export const IssuedWebhookEndpoint = WebhookEndpoint.extend({
  secret: z.string().openapi({
    description: "Shown now and never again; deliveries are signed with it as Standard Webhooks asks",
    example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  }),
}).openapi("IssuedWebhookEndpoint");
export type IssuedWebhookEndpoint = z.infer<typeof IssuedWebhookEndpoint>;

export const WebhookEndpointPath = z.object({
  id: z.string().max(40).openapi({ example: "whe_01K2C0Z0000000000000000000" }),
});
export type WebhookEndpointPath = z.infer<typeof WebhookEndpointPath>;

const MAX_GRACE_SECONDS = 259_200;

export const SecretRotation = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(86_400)
      .openapi({ description: "How long the old secret signs as well" }),
  })
  .openapi("SecretRotation");
export type SecretRotation = z.infer<typeof SecretRotation>;

export const TestSent = z
  .object({
    eventId: z.string().openapi({ description: "The ping; the endpoint's deliveries show how it went" }),
  })
  .openapi("TestSent");
export type TestSent = z.infer<typeof TestSent>;

export const Replay = z
  .strictObject({
    from: Instant.openapi({ description: "At most 30 days ago" }),
    to: Instant.openapi({ description: "Exclusive" }),
    types: z.array(pattern).min(1).max(MAX_PATTERNS).optional(),
  })
  .openapi("Replay", { example: { from: "2026-08-11T00:00:00.000Z", to: "2026-08-12T00:00:00.000Z" } });
export type Replay = z.infer<typeof Replay>;

export const Replayed = z
  .object({ events: z.int().openapi({ description: "How many are sent again" }) })
  .openapi("Replayed");
export type Replayed = z.infer<typeof Replayed>;

/** What came of one attempt. */
export const Attempt = z.object({
  at: Timestamp,
  status: z.int().nullable().openapi({ description: "Of the answer; null where none came" }),
  problem: z.string().nullable().openapi({
    description: "timeout, unreachable, blocked-address or url-not-allowed; null where one came",
  }),
  durationMs: z.int(),
});
export type Attempt = z.infer<typeof Attempt>;

export const WebhookDelivery = z
  .object({
    id: z.string().openapi({ example: "whd_01K2C0Z0000000000000000000" }),
    webhookEndpointId: z.string(),
    eventId: z.string(),
    type: z.string(),
    sequence: z.int(),
    state: z.enum(deliveryStates),
    attempts: z.array(Attempt).openapi({ description: "Oldest first; the last twenty" }),
    response: z.string().nullable().openapi({ description: "Of the last attempt, its first 4 kB" }),
    nextAttemptAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("WebhookDelivery");
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryFilter = z.object({
  state: z.enum(deliveryStates).optional(),
  eventId: z.string().max(40).optional(),
});
export type DeliveryFilter = z.infer<typeof DeliveryFilter>;

export const WebhookDeliveryPath = z.object({
  id: z.string().max(40).openapi({ example: "whd_01K2C0Z0000000000000000000" }),
});
export type WebhookDeliveryPath = z.infer<typeof WebhookDeliveryPath>;
