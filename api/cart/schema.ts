import { z } from "@hono/zod-openapi";
import { LineInputs } from "../catalog/schema.ts";
import { Money } from "../http/money.ts";
import { PayerMetadata } from "../http/text.ts";
import { PaymentIntent, PaymentIntentInput } from "../payment-intent/schema.ts";

const { merchant, executionPath, payment, merchantReference, customer, returnUrl } = PaymentIntentInput.shape;
const Currency = z.string().min(1).max(16).openapi({ example: "USD" });

export const CartInput = z.strictObject({ currency: Currency, lines: LineInputs }).openapi("CartInput");
export type CartInput = z.infer<typeof CartInput>;

/** A cart that is to be paid. Prices are never sent: they are read here. Source: interface §4. */
export const CartCheckoutInput = CartInput.extend({
  ...{ merchant, executionPath, payment, merchantReference, customer, returnUrl },
  metadata: PayerMetadata.optional(),
}).openapi("CartCheckoutInput");
export type CartCheckoutInput = z.infer<typeof CartCheckoutInput>;

const CartLine = z
  .object({
    productId: z.string(),
    name: z.string(),
    unitPrice: Money,
    quantity: z.int(),
    total: Money,
  })
  .openapi("CartLine");

export const PricedCart = z.object({ lines: z.array(CartLine), total: Money }).openapi("PricedCart");
export type PricedCart = z.infer<typeof PricedCart>;

/** Source: interface §4, `POST /v1/carts/checkout`. */
export const CartCheckout = z
  .object({
    paymentIntent: PaymentIntent,
    url: z.string().openapi({ description: "The page where a person pays it" }),
  })
  .openapi("CartCheckout");
export type CartCheckout = z.infer<typeof CartCheckout>;
