import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { json, problems } from "../http/route.ts";
import { SettleResponse } from "./schema.ts";

/** The agent URL in the OpenAPI document, as indexers of x402 read it. */
export function describeAgentUrl(app: OpenAPIHono): void {
  const methods = ["get", "post"] as const;
  const atPage = "The same at the address of its page, for who pays or asks for JSON";
  const places = [
    { methods, path: "/x402/payables/{id}", summary: "Pay an invoice, a link or an intent" },
    { methods, path: "/checkout/{id}", summary: atPage },
    // Its GET is described as the page that it is.
    { methods: ["post"] as const, path: "/invoices/{id}/view", summary: atPage },
  ];
  for (const { methods, ...place } of places)
    for (const method of methods)
      app.openAPIRegistry.registerPath({
        method,
        ...place,
        tags: ["x402"],
        security: [],
        request: { params: z.object({ id: z.string() }) },
        responses: {
          ...refusals,
          200: json(
            z.union([ReceiptBody, SettleResponse]),
            "The receipt; or, with success false, that the outcome is still open",
          ),
          402: json(
            z.union([UnpaidBody, SettleResponse]),
            "Not paid; the header PAYMENT-REQUIRED says what to sign. Or the payment failed, as PAYMENT-RESPONSE says",
          ),
          409: {
            description: "Paid before, bound elsewhere, or a payment is under way",
            content: { ...json(SettleResponse, "").content, ...refusals[409]?.content },
          },
        },
        // The price is the payable's own; the 402 tells it.
        "x-payment-info": { price: { mode: "dynamic", currency: "USD" }, protocols: [{ x402: {} }] },
      });
}

const refusals = problems(
  "duplicate_header",
  "not_found",
  "payable_closed",
  "payment_pending",
  "rail_unsupported",
  "link_not_payable",
  "amount_too_small",
  "amount_too_large",
  "rate_unavailable",
);

const UnpaidBody = z
  .object({
    x402Version: z.literal(1),
    error: z.string(),
    accepts: z.array(z.record(z.string(), z.unknown())),
    errorMessage: z.string().openapi({ description: "Why a payment was not taken" }),
  })
  .partial()
  .openapi("Unpaid", { description: "What clients of version 1 read; empty where none can pay" });

const ReceiptBody = z
  .object({
    success: z.boolean(),
    paymentId: z.string().nullable(),
    payable: z.object({ id: z.string(), kind: z.string(), url: z.string() }),
    amount: z
      .object({ atomic: z.string(), decimal: z.string(), decimals: z.int(), symbol: z.string() })
      .nullable(),
    transaction: z.string(),
    network: z.string(),
    payer: z.string().nullable(),
    paidAt: z.string().nullable(),
    receiptUrl: z.string().nullable(),
    statusUrl: z.string().nullable(),
  })
  .openapi("Receipt");
