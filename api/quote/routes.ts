import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { demandIdempotencyKey } from "../http/idempotency.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  publishableKey,
  publishableKeyFaults,
  RequiredIdempotencyHeader,
} from "../http/route.ts";
import { findMerchant } from "../merchant/verbs/merchant.ts";
import { type Pricing, withSpread } from "../rate/verbs.ts";
import { Quote, QuoteInput } from "./schema.ts";
import { quote } from "./verbs.ts";

/** Indicative prices. */
export function quoteRoutes(pricing: Pricing) {
  const create = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/quotes",
      tags: ["rates"],
      summary: "Ask what an amount comes to in payer assets",
      ...publishableKey(),
      request: { headers: RequiredIdempotencyHeader, body: body(QuoteInput) },
      responses: {
        200: json(Quote, "A line for each asset; one that has no price is not available"),
        ...problems(
          ...publishableKeyFaults,
          ...bodyFaults,
          "idempotency_key_required",
          "idempotency_key_invalid",
          "too_many_decimals",
          "currency_unsupported",
          "amount_too_small",
        ),
      },
    }),
    handler: async (c) => {
      // The interface marks it as a write; nothing is written, so there is nothing to store under the key.
      demandIdempotencyKey(c);
      const { db, merchantId } = c.var.merchant;
      const { spreadBps } = await findMerchant(db.pool, merchantId);
      const own = { ...pricing, rates: withSpread(pricing.rates, spreadBps) };
      return c.json(await quote(own, { input: c.req.valid("json") }), 200);
    },
  });
  return [create] as const;
}
