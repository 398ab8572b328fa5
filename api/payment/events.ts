import { z } from "@hono/zod-openapi";
import { Clearing, Deposit } from "../clearing/schema.ts";
import type { PaymentFact } from "../clearing/state.ts";
import type { PaymentDesk } from "../clearing/verbs/payment.ts";
import { positionsOf } from "../clearing/verbs/positions.ts";
import type { EventFamily } from "../http/event.ts";
import { PaymentIntent } from "../payment-intent/schema.ts";

const types: Readonly<Record<PaymentFact, true>> = {
  "payment.created": true,
  "payment.clearing": true,
  "payment.funds_detected": true,
  "payment.funds_received": true,
  "payment.completed": true,
  "payment.failed": true,
  "payment.expired": true,
  "payment.cancelled": true,
  "payment.review_required": true,
  "payment.returned": true,
  "payment.reversed": true,
  "payment.reopened": true,
  "payment.overpaid": true,
};

const PaymentObject = z
  .object({ paymentIntent: PaymentIntent, clearing: Clearing.nullable(), deposit: Deposit.nullable() })
  .openapi("PaymentObject");

/** What merchants are told of payments, those of agents included. Source: merchant-api.md §6.2. */
export function paymentEvents(desk: PaymentDesk): EventFamily {
  return {
    types: Object.keys(types),
    object: PaymentObject,
    async present(db, facts) {
      const named = facts.map(({ merchantId, payload }) => ({
        merchantId,
        id: String(payload.paymentIntentId),
      }));
      const found = await positionsOf(desk, db, named);
      return named.map(({ id }) => found.get(id) ?? null);
    },
  };
}
