import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import { requireAccept } from "../http/accept.ts";
import { keyedAt } from "../http/idempotency.ts";
import { limitByAddress } from "../http/limit.ts";
import { bodyFaults, json, problems, RequiredIdempotencyHeader, requiredKeyFaults } from "../http/route.ts";
import { strictJson } from "../http/strict-json.ts";
import { PaymentIntent } from "../payment-intent/schema.ts";
import { InvoiceCheckout, InvoicePath } from "./schema.ts";
import { checkCheckout, checkoutInvoice } from "./verbs/checkout.ts";
import type { InvoiceDesk } from "./verbs/desk.ts";
import { findByAddress } from "./verbs/read.ts";

/** Whoever holds an invoice's address is who pays it: no key is asked for. Source: merchant-api.md §2.4. */
export function invoiceCheckoutRoute(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices/{id}/checkout",
      tags: ["invoices"],
      summary: "Begin to pay an invoice",
      security: [],
      middleware: [limitByAddress("checkout"), requireAccept(["application/json"]), strictJson()],
      request: {
        headers: RequiredIdempotencyHeader,
        params: InvoicePath,
        body: { required: false, content: { "application/json": { schema: InvoiceCheckout } } },
      },
      responses: {
        200: json(PaymentIntent, "The intent that waits for its money on the same rail already"),
        201: json(PaymentIntent, "An intent for what is still owed"),
        ...problems(
          ...bodyFaults,
          ...requiredKeyFaults,
          "not_acceptable",
          "invalid_service_version",
          "not_found",
          "invoice_not_payable",
          "invoice_payment_in_progress",
          "amount_too_small",
          "amount_too_large",
          "merchant_suspended",
          "rail_unsupported",
        ),
      },
    }),
    handler: async (c) => {
      const { id } = c.req.valid("param");
      const input = c.req.valid("json");
      const row = await findByAddress(desk, id);
      const beforehand = () => checkCheckout(desk, row, input);
      return keyedAt(
        c,
        { input, isRequired: true, holder: row.id, beforehand },
        async (ctx, checked, write) => {
          const { intent, isNew } = await checkoutInvoice(desk, { making: ctx, row, input, checked, write });
          const headers = { Location: `/v1/payment-intents/${intent.id}` };
          return { status: isNew ? 201 : 200, body: intent, headers, resourceId: intent.id };
        },
      );
    },
  });
}
