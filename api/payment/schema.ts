import { z } from "@hono/zod-openapi";
import { Clearing } from "../clearing/schema.ts";
import { clearingStates } from "../clearing/state.ts";
import { PaymentIntent, PaymentIntentFilter } from "../payment-intent/schema.ts";

/** A payment in a list: without its deposits and its timeline. */
export const PaymentSummary = z
  .object({ paymentIntent: PaymentIntent, clearing: Clearing.nullable() })
  .openapi("PaymentSummary");
export type PaymentSummary = z.infer<typeof PaymentSummary>;

/** What a list of payments may be narrowed by. */
export const PaymentFilter = PaymentIntentFilter.extend({
  state: z.enum(clearingStates).optional(),
  reviewRequired: z
    .enum(["true", "false"])
    .optional()
    .openapi({ description: "Money that waits for the merchant's decision" }),
  chain: z.string().max(64).optional().openapi({ description: "Slug or CAIP-2 id" }),
  asset: z.string().max(16).optional(),
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
