import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { keyedAfter } from "../http/idempotency.ts";
import { limitByAddress } from "../http/limit.ts";
import {
  body,
  bodyFaults,
  IdempotencyHeader,
  idempotencyFaults,
  json,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import { PaymentIntent, PaymentIntentPath } from "../payment-intent/schema.ts";
import type { ClearingDesk } from "./desk.ts";
import { ConfirmInput, PaymentPath, PaymentPosition, ReviewInput, SignedOrder } from "./schema.ts";
import { agentsOf, cancel } from "./verbs/cancel.ts";
import { confirm, foresee } from "./verbs/confirm.ts";
import { readOrder } from "./verbs/order.ts";
import { outsideOf, retry } from "./verbs/retry.ts";
import { review } from "./verbs/review.ts";

const intents = ["payment intents"];
const payments = ["payments"];

/** What is done with a payment once it was asked for. */
export function clearingRoutes(desk: ClearingDesk) {
  const confirming = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payment-intents/{id}/confirm",
      tags: intents,
      summary: "Hand an intent to clearing",
      description:
        "Locks the rate and signs an order; its answer says where the money is to be sent. Confirming what is clearing " +
        "answers where it stands and starts nothing.",
      ...secretKey({ permission: "payments:write" }),
      request: {
        headers: RequiredIdempotencyHeader,
        params: PaymentIntentPath,
        body: { ...body(ConfirmInput), required: false },
      },
      responses: {
        200: json(PaymentPosition, "Where the payment stands"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "intent_not_confirmable",
          "intent_expired",
          "rail_unsupported",
          "amount_too_small",
          "amount_too_large",
          "rate_unavailable",
        ),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      const beforehand = () => foresee(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, foreseen) => ({
        status: 200,
        body: await confirm(desk, { ctx, input, foreseen }),
      }));
    },
  });

  const cancelling = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payment-intents/{id}/cancel",
      tags: intents,
      summary: "Cancel an intent for which no money is on its way",
      ...secretKey({ permission: "payments:write" }),
      request: { headers: RequiredIdempotencyHeader, params: PaymentIntentPath },
      responses: {
        200: json(PaymentIntent, "The intent, cancelled"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "intent_not_cancellable",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      const beforehand = () => agentsOf(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, agents) => ({
        status: 200,
        body: await cancel(desk, { ctx, input, payments: agents }),
      }));
    },
  });

  const retrying = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payments/{id}/retry",
      tags: payments,
      summary: "Settle what failed or expired though its funds arrived",
      ...secretKey({ permission: "payments:write" }),
      request: { headers: IdempotencyHeader, params: PaymentPath },
      responses: {
        200: json(PaymentPosition, "Where the payment stands"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...idempotencyFaults,
          "not_found",
          "funds_not_received",
          "payment_not_retryable",
          "agent_payment_under_way",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      const beforehand = () => outsideOf(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: false, beforehand }, async (ctx, outside) => ({
        status: 200,
        body: await retry(desk, { ctx, input, outside }),
      }));
    },
  });

  const reviewing = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payments/{id}/review",
      tags: payments,
      summary: "Decide about money that came short, late, or astray",
      ...secretKey({ permission: "payments:write" }),
      request: { headers: RequiredIdempotencyHeader, params: PaymentPath, body: body(ReviewInput) },
      responses: {
        200: json(PaymentPosition, "Where the payment stands"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "review_not_required",
          "review_by_operator",
          "agent_payment_under_way",
          "funds_not_received",
          "funds_not_final",
          "destination_required",
          "recipient_is_ours",
          "chain_unavailable",
        ),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      const beforehand = () => outsideOf(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, outside) => ({
        status: 200,
        body: await review(desk, { ctx, input, outside }),
      }));
    },
  });

  const ordering = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/checkout/{id}/order",
      tags: payments,
      summary: "The signed order that the payment router takes for an intent",
      description:
        "Keyless: whoever holds the id is the payer. There is one while an intent that is to be paid on-chain-contract " +
        "waits for its funds.",
      security: [],
      middleware: [limitByAddress("checkout")],
      request: { params: PaymentIntentPath },
      responses: { 200: json(SignedOrder, "Order and signature"), ...problems("not_found", "rate_limited") },
    }),
    handler: async (c) => {
      c.header("Cache-Control", "no-store");
      return c.json(await readOrder(desk, c.var.edge.db.pool, c.req.valid("param").id), 200);
    },
  });

  return [confirming, cancelling, retrying, reviewing, ordering] as const;
}
