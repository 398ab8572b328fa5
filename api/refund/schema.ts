import { z } from "@hono/zod-openapi";
import { Destination } from "../clearing/schema.ts";
import { Money, MoneyInput } from "../http/money.ts";
import { Metadata } from "../http/text.ts";
import { refundStates } from "./state.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });
export const RefundReason = z.enum([
  "requested-by-customer",
  "duplicate",
  "fraudulent",
  "overpayment",
  "order-cancelled",
  "other",
]);
export type RefundReason = z.infer<typeof RefundReason>;

/** Source: merchant-api.md §2.1. */
export const RefundInput = z
  .strictObject({
    amount: MoneyInput.optional().openapi({
      description:
        "In the payment's currency, at its locked rate, or in the asset it was paid in; everything still refundable when left out",
    }),
    reason: RefundReason.optional().openapi({ default: "requested-by-customer" }),
    destination: Destination.optional().openapi({
      description: "An address on the payment's chain; who paid, when left out and that can be told",
    }),
    metadata: Metadata.optional(),
  })
  .openapi("RefundInput");
export type RefundInput = z.infer<typeof RefundInput>;

export const RefundDestination = z.strictObject({ address: Destination }).openapi("RefundDestination");
export type RefundDestination = z.infer<typeof RefundDestination>;

/** Source: interface §2.6; `chain`, `destination` and `metadata` are ours. */
export const Refund = z
  .object({
    id: z.string().openapi({ example: "re_01K2C0Z0000000000000000000" }),
    paymentIntentId: z.string().openapi({ example: "pi_01K2C0Z0000000000000000000" }),
    amount: Money.openapi({ description: "What the payer gets, in the asset the payment was made in" }),
    state: z.enum(refundStates),
    reason: RefundReason,
    chain: z.string(),
    destination: z
      .string()
      .nullable()
      .openapi({ description: "Null while it is not known whom to pay: POST …/destination" }),
    providerReference: z
      .string()
      .nullable()
      .openapi({ description: "Hash of the transaction that pays it, once there is one" }),
    failureReason: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Refund");
export type Refund = z.infer<typeof Refund>;

export const RefundPath = z.object({
  id: z.string().max(40).openapi({ example: "re_01K2C0Z0000000000000000000" }),
});
export type RefundPath = z.infer<typeof RefundPath>;

/** A payment, by the id of its intent or of its clearing. */
export const RefundedPath = z.object({
  id: z.string().max(40).openapi({ example: "pi_01K2C0Z0000000000000000000" }),
});
export type RefundedPath = z.infer<typeof RefundedPath>;
