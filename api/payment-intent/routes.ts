import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { keyedAfter } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import {
  PaymentIntent,
  PaymentIntentFilter,
  PaymentIntentInput,
  PaymentIntentPath,
  PaymentIntents,
} from "./schema.ts";
import { checkInput, createIntent, type IntentDesk } from "./verbs/create.ts";
import { listIntents, readIntent } from "./verbs/read.ts";

const tags = ["payment intents"];

/** Requests to be paid: made, read and listed here; `api/clearing` hands them to clearing. */
export function paymentIntentRoutes(desk: IntentDesk) {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/payment-intents",
      tags,
      summary: "Ask to be paid",
      ...secretKey({ permission: "payments:write" }),
      request: { headers: RequiredIdempotencyHeader, body: body(PaymentIntentInput) },
      responses: {
        201: json(PaymentIntent, "The intent"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          ...requiredKeyFaults,
          "merchant_mismatch",
          "too_many_decimals",
          "currency_unsupported",
          "amount_too_small",
          "amount_too_large",
          "merchant_suspended",
          "rail_unsupported",
          "return_url_not_allowed",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      const beforehand = () => checkInput(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, checked, write) => {
        const { intent, isRepeated } = await createIntent(desk, { ctx, input, checked, write });
        const replayed = isRepeated ? { "Idempotent-Replayed": "true" } : {};
        const headers = { Location: `/v1/payment-intents/${intent.id}`, ...replayed };
        return { status: 201, body: intent, headers, resourceId: intent.id };
      });
    },
  });

  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payment-intents",
      tags,
      summary: "List the merchant's intents",
      ...secretKey({ permission: "payments:read" }),
      request: { query: PageQuery.extend(PaymentIntentFilter.shape) },
      responses: {
        200: json(PaymentIntents, "The intents, newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const found = await listIntents(desk, { ctx: c.var.merchant, input: { ...page, ...filter } });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });

  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payment-intents/{id}",
      tags,
      summary: "Read an intent",
      ...secretKey({ permission: "payments:read" }),
      request: { params: PaymentIntentPath },
      responses: { 200: json(PaymentIntent, "The intent"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readIntent(desk, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });

  return [create, list, read] as const;
}
