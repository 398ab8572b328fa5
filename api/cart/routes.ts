import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { keyedAfter } from "../http/idempotency.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  publishableKey,
  publishableKeyFaults,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
} from "../http/route.ts";
import type { IntentDesk } from "../payment-intent/verbs/create.ts";
import { CartCheckout, CartCheckoutInput, CartInput, PricedCart } from "./schema.ts";
import { checkCart, checkOutCart, priceCart } from "./verbs.ts";

const page = { tags: ["carts"], ...publishableKey() };
const cartFaults = [
  ...publishableKeyFaults,
  ...bodyFaults,
  "product_not_found",
  "product_inactive",
  "price_missing",
  "currency_unsupported",
] as const;

/** Carts: priced here, whatever a page shows. */
export function cartRoutes(desk: IntentDesk) {
  const price = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/carts/price",
      summary: "Ask what a cart costs",
      ...page,
      request: { body: body(CartInput) },
      responses: { 200: json(PricedCart, "Each line and the total"), ...problems(...cartFaults) },
    }),
    handler: async (c) => c.json(await priceCart({ ctx: c.var.merchant, input: c.req.valid("json") }), 200),
  });

  const checkout = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/carts/checkout",
      summary: "Make a payment intent of a cart",
      ...page,
      request: { headers: RequiredIdempotencyHeader, body: body(CartCheckoutInput) },
      responses: {
        201: json(CartCheckout, "The intent, and where a person pays it"),
        ...problems(
          ...cartFaults,
          ...requiredKeyFaults,
          "merchant_mismatch",
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
      const beforehand = () => checkCart(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, found, write) => {
        const { isRepeated, ...made } = await checkOutCart(desk, { ctx, input, found, write });
        const replayed = isRepeated ? { "Idempotent-Replayed": "true" } : {};
        const headers = { Location: `/v1/payment-intents/${made.paymentIntent.id}`, ...replayed };
        return { status: 201, body: made, headers, resourceId: made.paymentIntent.id };
      });
    },
  });
  return [price, checkout] as const;
}
