import type { ApiFaultSpec } from "./spec.ts";

/** What a merchant sells, and to whom: customers, catalog, links, invoices, subscriptions, endpoints of theirs. */
export const sellingFaults = {
  email_taken: {
    kind: "conflict",
    title: "Email taken",
    detail: "Another customer has this email. GET /v1/customers?email= finds it.",
  },
  sku_taken: {
    kind: "conflict",
    title: "SKU taken",
    detail:
      "Another product has this SKU. GET /v1/catalog/products?sku= finds it; change that one, or name this one otherwise.",
  },
  product_not_found: {
    kind: "unprocessable",
    title: "No such product",
    detail: "There is no product {productId} in the merchant's catalog. GET /v1/catalog/products lists them.",
  },
  product_inactive: {
    kind: "unprocessable",
    title: "Product inactive",
    detail: "The product {productId} is not for sale now. Leave it out, or have the merchant activate it.",
  },
  price_missing: {
    kind: "unprocessable",
    title: "No price in this currency",
    detail:
      "The product {productId} has no price in {currency}. Ask in a currency of its prices, or have the merchant add one.",
  },
  link_not_payable: {
    kind: "conflict",
    title: "Link not payable",
    detail: "This link cannot be paid now: {why}. GET /v1/payment-links/{id} tells its merchant more.",
  },
  url_not_allowed: {
    kind: "unprocessable",
    title: "URL not allowed",
    detail: "This URL cannot be registered: {why}.",
  },
  invoice_state: {
    kind: "conflict",
    title: "Not in this state",
    detail: "The invoice is {state}. {next}",
  },
  invoice_not_editable: {
    kind: "conflict",
    title: "Invoice not editable",
    detail: "An invoice that is {state} keeps its {field}. {next}",
  },
  invoice_not_payable: {
    kind: "conflict",
    title: "Invoice not payable",
    detail: "The invoice is {state}, so there is nothing to pay.",
  },
  invoice_paid: {
    kind: "conflict",
    title: "Invoice paid",
    detail: "The invoice is paid. Refund its payment instead.",
  },
  invoice_payment_in_progress: {
    kind: "conflict",
    title: "Payment under way",
    detail: "Money for this invoice is on its way. Read it again when that payment has ended.",
  },
  subscription_cancelled: {
    kind: "conflict",
    title: "Subscription cancelled",
    detail: "The subscription is cancelled for good. Create another one.",
  },
  subscription_behind: {
    kind: "conflict",
    title: "Cycles are being issued",
    detail:
      "Cycles that are due already are issued as they stand. Repeat the change in a moment; where it is paused, after it was resumed.",
  },
  anchor_invalid: {
    kind: "unprocessable",
    title: "Anchor not possible",
    detail: "anchorAt cannot be so: {why}.",
  },
  due_date_invalid: {
    kind: "unprocessable",
    title: "Due date not possible",
    detail: "The due date cannot be so: {why}.",
  },
  buyer_email_required: {
    kind: "unprocessable",
    title: "Email of the buyer required",
    detail: "There is no address to send it to. Add buyer.email with PATCH first.",
  },
  webhook_endpoint_limit: {
    kind: "conflict",
    title: "Too many webhook endpoints",
    detail: "A merchant has at most {most} webhook endpoints. Delete one that is not needed any more.",
  },
  webhook_endpoint_disabled: {
    kind: "conflict",
    title: "Webhook endpoint disabled",
    detail: "Nothing is sent to a disabled endpoint. PATCH it with enabled: true first.",
  },
  replay_too_large: {
    kind: "unprocessable",
    title: "Replay too large",
    detail: "More than {most} events are meant. Name a shorter time or fewer types.",
  },
} as const satisfies Record<string, ApiFaultSpec>;
