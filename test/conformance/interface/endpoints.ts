/** The interface's part 4 as data: every endpoint that is served by now, and those that are not. */
import { paymentIntent, position, quotes, refund, resource, type Shape } from "./shapes.ts";

export interface Endpoint {
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: string;
  /** Whether `Idempotency-Key` is required. */
  readonly idem: boolean;
  readonly auth: "secret" | "publishable" | "keyless";
  /** Status of success and the shape of its body; a list of it where `isList`. */
  readonly answers?: { readonly status: string; readonly shape: Shape; readonly isList?: true };
}

const secret = { auth: "secret" } as const;
const keyless = { auth: "keyless", idem: false } as const;

export const served: readonly Endpoint[] = [
  {
    method: "post",
    path: "/v1/payment-intents",
    idem: true,
    ...secret,
    answers: { status: "201", shape: paymentIntent },
  },
  {
    method: "get",
    path: "/v1/payment-intents/{id}",
    idem: false,
    ...secret,
    answers: { status: "200", shape: paymentIntent },
  },
  {
    method: "post",
    path: "/v1/payment-intents/{id}/confirm",
    idem: true,
    ...secret,
    answers: { status: "200", shape: position },
  },
  {
    method: "get",
    path: "/v1/payments/{id}",
    idem: false,
    ...secret,
    answers: { status: "200", shape: position },
  },
  {
    method: "post",
    path: "/v1/payments/{id}/retry",
    idem: false,
    ...secret,
    answers: { status: "200", shape: position },
  },
  {
    method: "post",
    path: "/v1/payments/{id}/refunds",
    idem: true,
    ...secret,
    answers: { status: "201", shape: refund },
  },
  {
    method: "get",
    path: "/v1/payments/{id}/refunds",
    idem: false,
    ...secret,
    answers: { status: "200", shape: refund, isList: true },
  },
  {
    method: "post",
    path: "/v1/quotes",
    idem: true,
    auth: "publishable",
    answers: { status: "200", shape: quotes },
  },
  {
    method: "get",
    path: "/v1/x402/resources",
    idem: false,
    ...secret,
    answers: { status: "200", shape: { resources: "resource[]" } },
  },
  {
    method: "post",
    path: "/v1/x402/resources",
    idem: false,
    ...secret,
    answers: { status: "201", shape: resource },
  },
  {
    method: "post",
    path: "/v1/x402/resources/{id}/unlist",
    idem: false,
    ...secret,
    answers: { status: "200", shape: resource },
  },
  { method: "get", path: "/x402/resources/{id}/payment-required", ...keyless },
  { method: "post", path: "/x402/resources/{id}/verify", ...keyless },
  { method: "post", path: "/x402/resources/{id}/settle", ...keyless },
  { method: "get", path: "/x402/resources", ...keyless },
  { method: "get", path: "/x402/payables", ...keyless },
  { method: "post", path: "/v1/provider-webhooks/{provider}", ...keyless },
  { method: "get", path: "/health", ...keyless },
];

/** Named by the interface and not served yet: commerce and pages. A path that appears moves up. */
export const missing: readonly string[] = [
  "PATCH /v1/invoices/{id}",
  "POST /v1/payment-links",
  "POST /v1/payment-links/{id}/list",
  "POST /v1/payment-links/{id}/unlist",
  "POST /v1/invoices/{id}/list",
  "POST /v1/invoices/{id}/unlist",
  "POST /v1/payment-links/{id}/checkout",
  "GET /v1/payment-links/{id}/rails",
  "GET /v1/payments/{id}/invoice.pdf",
  "GET /v1/payments/{id}/receipt.pdf",
  "POST /v1/subscriptions",
  "GET /v1/subscriptions",
  "GET /v1/subscriptions/{id}",
  "POST /v1/subscriptions/{id}/pause",
  "POST /v1/subscriptions/{id}/resume",
  "POST /v1/subscriptions/{id}/cancel",
  "POST /v1/carts/checkout",
  "POST /v1/invoices/{id}/void",
  "POST /v1/catalog/products",
  "GET /v1/catalog/products",
  "GET /checkout/{id}",
  "GET /invoices/{id}/view",
];
