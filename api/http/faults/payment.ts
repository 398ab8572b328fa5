import type { ApiFaultSpec } from "./spec.ts";

/** Payments and their intents: what can be paid, how, and where a payment stands. */
export const paymentFaults = {
  rail_switched_too_often: {
    kind: "conflict",
    title: "Rail switched too often",
    detail: "This payment was sent another way too many times. Pay the way that it shows now.",
  },
  intent_not_confirmable: {
    kind: "conflict",
    title: "Intent not confirmable",
    detail: "The intent is {status}. Make a new one; what has failed may also be retried.",
  },
  intent_expired: {
    kind: "gone",
    title: "Intent expired",
    detail: "The intent was to be confirmed until {expiresAt}. Make a new one.",
  },
  intent_not_cancellable: {
    kind: "conflict",
    title: "Intent not cancellable",
    detail: "The intent is {status}, or money for it is on its way. Read the payment to see where it stands.",
  },
  funds_not_received: {
    kind: "conflict",
    title: "Funds not received",
    detail: "Less has arrived and been confirmed than is due, so there is nothing to settle yet.",
  },
  funds_not_final: {
    kind: "conflict",
    title: "Funds not final",
    detail: "The block of this money is not final yet. Repeat the request when it is.",
  },
  payment_not_retryable: {
    kind: "conflict",
    title: "Payment not retryable",
    detail: "The payment is {state}. Only what failed or expired after its funds arrived can be retried.",
  },
  review_not_required: {
    kind: "conflict",
    title: "No review required",
    detail:
      "No money of this payment waits for a decision of this kind. GET /v1/payments/{id} tells what waits; beside a payment that is settled money can be returned, not accepted.",
  },
  review_by_operator: {
    kind: "conflict",
    title: "The operator decides",
    detail:
      "An agent's payment of it, {payment}, waits for the operator of this service, who decides about it. What the payer deposited besides can be returned.",
  },
  agent_payment_under_way: {
    kind: "conflict",
    title: "Agent payment under way",
    detail:
      "An agent's payment of it, {payment}, may still be charged, and one of the two is the payment. Repeat the request once that has ended. What the payer deposited besides can be returned.",
  },
  payable_closed: {
    kind: "gone",
    title: "No longer for sale",
    detail: "This cannot be paid any more.",
  },
  payment_pending: {
    kind: "conflict",
    title: "Payment under way",
    detail:
      "A payment of this is under way and it can be paid once. Do not sign another: statusUrl, where it is given, tells how it ends; otherwise ask again as Retry-After says.",
  },
  currency_unsupported: {
    kind: "unprocessable",
    title: "Currency unsupported",
    detail: "A price in {asset} cannot be offered here. Supported: {supported}.",
  },
  amount_too_small: {
    kind: "unprocessable",
    title: "Amount too small",
    detail: "The amount must be at least {minimum} {asset}.",
  },
  amount_too_large: {
    kind: "unprocessable",
    title: "Amount too large",
    detail: "The amount may be at most {maximum} {asset}.",
  },
  return_url_not_allowed: {
    kind: "unprocessable",
    title: "Return URL not allowed",
    detail:
      "Payers are sent back to pages of the merchant's allowedOrigins only. PATCH /v1/merchant adds one.",
  },
  receipt_not_available: {
    kind: "conflict",
    title: "No receipt yet",
    detail:
      "A receipt is drawn once the payment is completed; it is {status}. GET /v1/payments/{id} tells where it stands.",
  },
  rail_unsupported: {
    kind: "unprocessable",
    title: "Rail unsupported",
    detail:
      "This cannot be paid on {rail}. GET /v1/rails names the chains and tokens that work here; a merchant may take only some of them.",
  },
  token_domain_unreadable: {
    kind: "unprocessable",
    title: "Token domain unreadable",
    detail:
      "The contract of {asset} on {chain} does not prove its EIP-712 domain, so nobody could sign for it.",
  },
  simulation_impossible: {
    kind: "unprocessable",
    title: "Cannot be simulated",
    detail: "The sandbox cannot do this: {why}.",
  },
  rate_unavailable: {
    kind: "dependency",
    title: "Rate unavailable",
    detail:
      "Nobody we ask gives a price of {from} in {to} that we trust right now. Repeat the request shortly.",
  },
} as const satisfies Record<string, ApiFaultSpec>;
