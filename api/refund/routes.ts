import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { assert } from "#kernel/fault";
import { findPayment } from "../clearing/verbs/payment.ts";
import { keyed, keyedAfter } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
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
import { Refund, RefundDestination, RefundedPath, RefundInput, RefundPath } from "./schema.ts";
import { cancelRefund, giveDestination } from "./verbs/change.ts";
import { createRefund } from "./verbs/create.ts";
import { payerOf } from "./verbs/payer.ts";
import { listRefunds, readRefund } from "./verbs/read.ts";
import type { RefundDesk } from "./verbs/reserve.ts";

const reading = { tags: ["refunds"], ...secretKey({ permission: "payments:read" }) };
const writing = { tags: ["refunds"], ...secretKey({ permission: "refunds:write" }) };

/** Money back to who paid. */
export function refundRoutes(desk: RefundDesk) {
  return [createOf(desk), ...reads(), ...changesOf(desk)] as const;
}

function createOf(desk: RefundDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payments/{id}/refunds",
      summary: "Refund a payment, or part of it",
      ...writing,
      request: {
        headers: RequiredIdempotencyHeader,
        params: RefundedPath,
        body: { ...body(RefundInput), required: false },
      },
      responses: {
        201: json(Refund, "The refund; for a key that was used before, the refund it made"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_found",
          "payment_not_refundable",
          "refund_exceeds_refundable",
          "insufficient_balance",
          "asset_mismatch",
          "amount_too_small",
          "too_many_decimals",
          "rail_unsupported",
          "recipient_is_ours",
          "chain_unavailable",
        ),
      },
    }),
    handler: async (c) => {
      const input = c.req.valid("json");
      const { merchantId, db } = c.var.merchant;
      const payment = await findPayment(db.pool, merchantId, c.req.valid("param").id);
      const intentId = payment.intent.id;
      const beforehand = async () =>
        input.destination === undefined ? payerOf(desk, db.pool, payment) : null;
      // The body is left out: a key that was used before answers with the refund it made, whatever else is asked.
      return keyedAfter(
        c,
        { input: null, isRequired: true, about: intentId, beforehand },
        async (ctx, payer, write) => {
          assert(write, "a refund has a key");
          const made = await createRefund(desk, { ctx, input: { ...input, intentId, payer, write } });
          const replayed = made.isRepeated ? { "Idempotent-Replayed": "true" } : {};
          return {
            status: 201,
            body: made.refund,
            headers: { Location: `/v1/refunds/${made.refund.id}`, ...replayed },
            resourceId: made.refund.id,
          };
        },
      );
    },
  });
}

function reads() {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments/{id}/refunds",
      summary: "List the refunds of a payment",
      ...reading,
      request: { params: RefundedPath, query: PageQuery },
      responses: {
        200: json(z.array(Refund), "Newest first"),
        ...problems(...secretKeyFaults, "not_found", "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { id } = c.req.valid("param");
      const page = readPage(c, c.req.valid("query"), {});
      const found = await listRefunds({ ctx: c.var.merchant, input: { id, ...page } });
      return c.json([...pageOf(c, page, found, {})], 200);
    },
  });
  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/refunds/{id}",
      summary: "Read a refund",
      ...reading,
      request: { params: RefundPath },
      responses: { 200: json(Refund, "The refund"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => c.json(await readRefund({ ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
  return [list, read] as const;
}

function changesOf(desk: RefundDesk) {
  const destination = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/refunds/{id}/destination",
      summary: "Say whom to pay, where that cannot be told",
      ...writing,
      request: { headers: IdempotencyHeader, params: RefundPath, body: body(RefundDestination) },
      responses: {
        200: json(Refund, "The refund, which is on its way once its payment is final"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...idempotencyFaults,
          "not_found",
          "refund_has_destination",
          "insufficient_balance",
          "rail_unsupported",
          "recipient_is_ours",
        ),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await giveDestination(desk, { ctx, input }),
      }));
    },
  });
  const cancel = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/refunds/{id}/cancel",
      summary: "Take back a refund that has not been signed",
      ...writing,
      request: { headers: IdempotencyHeader, params: RefundPath },
      responses: {
        200: json(Refund, "The refund, now cancelled"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...idempotencyFaults,
          "not_found",
          "refund_not_cancellable",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: false }, async (ctx) => ({
        status: 200,
        body: await cancelRefund(desk, { ctx, input }),
      }));
    },
  });
  return [destination, cancel] as const;
}
