import { z } from "@hono/zod-openapi";
import { Clearing, PaymentPosition } from "../clearing/schema.ts";
import { clearingStates } from "../clearing/state.ts";
import { CustomerId } from "../customer/schema.ts";
import { Money } from "../http/money.ts";
import { PaymentIntent, PaymentIntentFilter } from "../payment-intent/schema.ts";

const amountRefunded = Money.nullable().openapi({
  description:
    "By refunds that have neither failed nor been cancelled, in the asset that was paid; null unless it is settled",
});

/** A payment in a list: without its deposits and its timeline. */
export const PaymentSummary = z
  .object({ paymentIntent: PaymentIntent, clearing: Clearing.nullable(), amountRefunded })
  .openapi("PaymentSummary");
export type PaymentSummary = z.infer<typeof PaymentSummary>;

/** A payment as it is read. */
export const PaymentRead = PaymentPosition.extend({ amountRefunded }).openapi("PaymentRead");
export type PaymentRead = z.infer<typeof PaymentRead>;

/** What a list of payments may be narrowed by. */
export const PaymentFilter = PaymentIntentFilter.extend({
  state: z.enum(clearingStates).optional(),
  reviewRequired: z
    .enum(["true", "false"])
    .optional()
    .openapi({ description: "Money that waits for the merchant's decision" }),
  chain: z.string().max(64).optional().openapi({ description: "Slug or CAIP-2 id, in any capitals" }),
  asset: z.string().max(16).optional().openapi({ description: "Its code, in any capitals" }),
  txHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "a transaction hash")
    .optional()
    .openapi({ description: "That paid, or that reached an order of it" }),
  subscriptionId: z.string().max(40).optional(),
  invoiceId: z.string().max(40).optional(),
  paymentLinkId: z.string().max(40).optional(),
  customerEmail: z.string().max(254).optional().openapi({ description: "Exactly, in any capitals" }),
});
export type PaymentFilter = z.infer<typeof PaymentFilter>;

/** The same over HTTP, where a customer is named. */
export const PaymentQuery = PaymentFilter.extend({
  customerId: CustomerId.optional(),
});
