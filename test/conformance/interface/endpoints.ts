/** The interface's part 4 as data: every endpoint that is served by now, and those that are not. */
import {
  cartCheckout,
  invoice,
  linkRail,
  paymentIntent,
  paymentLink,
  position,
  product,
  quotes,
  refund,
  resource,
  type Shape,
  subscription,
  subscriptionRead,
} from "./shapes.ts";

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
  { method: "get", path: "/v1/payments/{id}/invoice.pdf", idem: false, ...secret },
  { method: "get", path: "/v1/payments/{id}/receipt.pdf", idem: false, ...secret },
  {
    method: "post",
    path: "/v1/catalog/products",
    idem: true,
    ...secret,
    answers: { status: "201", shape: product },
  },
  {
    method: "get",
    path: "/v1/catalog/products",
    idem: false,
    auth: "publishable",
    answers: { status: "200", shape: product, isList: true },
  },
  {
    method: "post",
    path: "/v1/carts/checkout",
    idem: true,
    auth: "publishable",
    answers: { status: "201", shape: cartCheckout },
  },
  {
    method: "post",
    path: "/v1/payment-links",
    idem: true,
    ...secret,
    answers: { status: "201", shape: paymentLink },
  },
  {
    method: "post",
    path: "/v1/payment-links/{id}/list",
    idem: false,
    ...secret,
    answers: { status: "200", shape: paymentLink },
  },
  {
    method: "post",
    path: "/v1/payment-links/{id}/unlist",
    idem: false,
    ...secret,
    answers: { status: "200", shape: paymentLink },
  },
  {
    method: "post",
    path: "/v1/payment-links/{id}/checkout",
    idem: true,
    auth: "keyless",
    answers: { status: "201", shape: paymentIntent },
  },
  {
    method: "get",
    path: "/v1/payment-links/{id}/rails",
    idem: false,
    auth: "keyless",
    answers: { status: "200", shape: linkRail, isList: true },
  },
  { method: "get", path: "/checkout/{id}", ...keyless },
  {
    method: "patch",
    path: "/v1/invoices/{id}",
    idem: true,
    ...secret,
    answers: { status: "200", shape: invoice },
  },
  {
    method: "post",
    path: "/v1/invoices/{id}/void",
    idem: true,
    ...secret,
    answers: { status: "200", shape: invoice },
  },
  {
    method: "post",
    path: "/v1/invoices/{id}/list",
    idem: false,
    ...secret,
    answers: { status: "200", shape: invoice },
  },
  {
    method: "post",
    path: "/v1/invoices/{id}/unlist",
    idem: false,
    ...secret,
    answers: { status: "200", shape: invoice },
  },
  {
    method: "post",
    path: "/v1/subscriptions",
    idem: false,
    ...secret,
    answers: { status: "201", shape: subscription },
  },
  {
    method: "get",
    path: "/v1/subscriptions",
    idem: false,
    ...secret,
    answers: { status: "200", shape: subscription, isList: true },
  },
  {
    method: "get",
    path: "/v1/subscriptions/{id}",
    idem: false,
    ...secret,
    answers: { status: "200", shape: subscriptionRead },
  },
  {
    method: "post",
    path: "/v1/subscriptions/{id}/pause",
    idem: false,
    ...secret,
    answers: { status: "200", shape: subscription },
  },
  {
    method: "post",
    path: "/v1/subscriptions/{id}/resume",
    idem: false,
    ...secret,
    answers: { status: "200", shape: subscription },
  },
  {
    method: "post",
    path: "/v1/subscriptions/{id}/cancel",
    idem: false,
    ...secret,
    answers: { status: "200", shape: subscription },
  },
  { method: "get", path: "/x402/resources/{id}/payment-required", ...keyless },
  { method: "post", path: "/x402/resources/{id}/verify", ...keyless },
  { method: "post", path: "/x402/resources/{id}/settle", ...keyless },
  { method: "get", path: "/x402/resources", ...keyless },
  { method: "get", path: "/x402/payables", ...keyless },
  { method: "post", path: "/v1/provider-webhooks/{provider}", ...keyless },
  { method: "get", path: "/invoices/{id}/view", ...keyless },
  { method: "get", path: "/health", ...keyless },
];

/** Named by the interface and not served yet: commerce and pages. A path that appears moves up. */
export const missing: readonly string[] = [];
