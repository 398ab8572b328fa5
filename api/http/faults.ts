import { type Fault, type FaultSpec, faultsOf, kernelFaults } from "#kernel/fault";

/** A fault of this layer; `status` only where HTTP has one of its own for it. */
interface ApiFaultSpec extends FaultSpec {
  readonly status?: 405 | 406;
}

/** Faults of the HTTP and merchant layer. Each code has a page at `/errors/{code}`. */
export const apiFaults = {
  invalid_json: {
    kind: "invalid",
    title: "Not readable as JSON",
    detail: "The body is not JSON that we accept: {why}.",
  },
  validation_failed: {
    kind: "invalid",
    title: "Validation failed",
    detail: "The request does not have the documented shape. Correct what errors[] names and send it again.",
  },
  duplicate_header: {
    kind: "invalid",
    title: "Header sent twice",
    detail: "The header {header} may be sent once.",
  },
  too_many_decimals: {
    kind: "invalid",
    title: "Too many decimals",
    detail: "An amount of {asset} has at most {decimals} decimals. Nothing is rounded silently; send fewer.",
  },
  idempotency_key_required: {
    kind: "invalid",
    title: "Idempotency key required",
    detail:
      "Send the header Idempotency-Key with a value that stays the same when you repeat this very request.",
  },
  idempotency_key_invalid: {
    kind: "invalid",
    title: "Idempotency key invalid",
    detail: "Send Idempotency-Key once, with 1 to 255 printable ASCII characters.",
  },
  number_expected: {
    kind: "invalid",
    title: "Number expected",
    detail: "{name} is a whole number from {from} to {to}.",
  },
  invalid_service_version: {
    kind: "invalid",
    title: "Unknown service version",
    detail:
      "Service-Version is a date from 2026-08-11 to {current}, written YYYY-MM-DD. Leave it out for the newest.",
  },
  invalid_cursor: {
    kind: "invalid",
    title: "Invalid cursor",
    detail:
      "Send the cursor exactly as Next-Cursor gave it, with the same filters; or leave it out to start anew.",
  },
  unauthenticated: {
    kind: "unauthenticated",
    title: "Not authenticated",
    detail:
      "Send a valid key as Authorization: Bearer <API_KEY>. This one is missing, unknown, revoked or expired.",
  },
  signature_invalid: {
    kind: "unauthenticated",
    title: "Signature invalid",
    detail:
      "The callback's signature does not fit its exact bytes, or its timestamp is more than five minutes away.",
  },
  address_not_allowed: {
    kind: "forbidden",
    title: "Address not allowed",
    detail: "This key works from its allowedIps only, and this request came from elsewhere.",
  },
  origin_not_allowed: {
    kind: "forbidden",
    title: "Origin not allowed",
    detail:
      "No page of this origin may use the key. Add the origin to allowedOrigins of the key or of the merchant.",
  },
  form_not_current: {
    kind: "forbidden",
    title: "Form not current",
    detail: "The form was not made for this session. Open its page again and send it from there.",
  },
  secret_key_required: {
    kind: "forbidden",
    title: "Secret key required",
    detail: "A publishable key cannot do this. Call from your server with a secret key (sk_).",
  },
  secret_key_in_browser: {
    kind: "forbidden",
    title: "Secret key in a browser",
    detail:
      "This request has an Origin header, so the secret key is in a browser. Revoke it and call from your server.",
  },
  permission_denied: {
    kind: "forbidden",
    title: "Permission denied",
    detail: "This key lacks the permission {permission}. Use a key that has it.",
  },
  key_limits_exceeded: {
    kind: "forbidden",
    title: "Key limits exceeded",
    detail: "A key makes none that works from more addresses or for longer than itself: {why}. {next}",
  },
  merchant_mismatch: {
    kind: "forbidden",
    title: "Another merchant",
    detail:
      "The merchant id in the request is not the one of the key. Leave it out, or use that merchant's key.",
  },
  not_found: {
    kind: "not-found",
    title: "Not found",
    detail: "There is nothing here for you. Check the id and the path.",
  },
  method_not_allowed: {
    kind: "invalid",
    title: "Method not allowed",
    detail: "This path answers the methods named in the Allow header.",
    status: 405,
  },
  not_acceptable: {
    kind: "invalid",
    title: "Not acceptable",
    detail: "This path answers with {types}, which the Accept header leaves out.",
    status: 406,
  },
  body_too_large: {
    kind: "too-large",
    title: "Body too large",
    detail: "The body may have at most {limit} bytes.",
  },
  unsupported_media_type: {
    kind: "unsupported-media",
    title: "Unsupported media type",
    detail: "Send the body as application/json.",
  },
  idempotency_key_reused: {
    kind: "conflict",
    title: "Idempotency key reused",
    detail: "This key was first used with different parameters. Use a new key for a new request.",
  },
  idempotency_in_progress: {
    kind: "conflict",
    title: "First request still running",
    detail: "A request with this key is still running. Repeat it unchanged in a moment.",
  },
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
    detail: "No money of this payment waits for a decision of this kind.",
  },
  review_by_operator: {
    kind: "conflict",
    title: "The operator decides",
    detail:
      "An agent's payment of it, {payment}, waits for the operator of this service, who decides about it. What the payer deposited besides can be returned.",
  },
  destination_required: {
    kind: "unprocessable",
    title: "Destination required",
    detail:
      "The money came from {sender}, and nobody has said that this is the payer's own: an exchange could not tell whose it is. Send destination.",
  },
  key_revoked: {
    kind: "conflict",
    title: "Key revoked",
    detail: "This key is revoked, or was replaced already and is about to end. Create or rotate another one.",
  },
  version_conflict: {
    kind: "conflict",
    title: "Changed meanwhile",
    detail: "It is at version {currentVersion} by now. Read it again, and send the change with that version.",
  },
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
  payable_closed: {
    kind: "gone",
    title: "No longer for sale",
    detail: "This cannot be paid any more.",
  },
  payment_pending: {
    kind: "conflict",
    title: "Payment under way",
    detail:
      "A payment of this is under way and it can be paid once. Do not sign another: statusUrl tells how it ends, or ask again as Retry-After says.",
  },
  url_not_allowed: {
    kind: "unprocessable",
    title: "URL not allowed",
    detail: "This URL cannot be registered: {why}.",
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
  insufficient_balance: {
    kind: "unprocessable",
    title: "Insufficient balance",
    detail:
      "Less than {amount} {asset} is available on {chain}. GET /v1/balances tells what is; money that is not final yet, or promised to a refund, cannot be spent.",
  },
  receipt_not_available: {
    kind: "conflict",
    title: "No receipt yet",
    detail:
      "A receipt is drawn once the payment is completed; it is {status}. GET /v1/payments/{id} tells where it stands.",
  },
  payment_not_refundable: {
    kind: "conflict",
    title: "Payment not refundable",
    detail: "This payment cannot be refunded: {why}. GET /v1/payments/{id} tells where it stands.",
  },
  refund_exceeds_refundable: {
    kind: "unprocessable",
    title: "More than is refundable",
    detail:
      "Of this payment {refundable} {asset} can still be refunded. Ask for less, or leave the amount out for all of it.",
  },
  asset_mismatch: {
    kind: "unprocessable",
    title: "Another asset",
    detail: "A refund of this payment is in {units}, as it was paid.",
  },
  refund_has_destination: {
    kind: "conflict",
    title: "Destination known",
    detail:
      "The refund is {state}, and where it goes is settled. Cancel it while it is pending, and make another.",
  },
  refund_not_cancellable: {
    kind: "conflict",
    title: "Refund not cancellable",
    detail: "The refund is {state}: it has been signed or has ended. Read it again to see where it stands.",
  },
  payout_address_unknown: {
    kind: "unprocessable",
    title: "Payout address unknown",
    detail:
      "{destination} is not in the address book of {chain}. Add it with POST /v1/payout-addresses first.",
  },
  payout_address_limit: {
    kind: "conflict",
    title: "Too many payout addresses",
    detail: "A merchant has at most {most} payout addresses. Remove one that is not needed any more.",
  },
  payout_address_cooling: {
    kind: "conflict",
    title: "Payout address too new",
    detail: "{destination} can be paid from {usableFrom} on.",
  },
  payout_not_cancellable: {
    kind: "conflict",
    title: "Payout not cancellable",
    detail: "The payout is {state}: it has been signed or has ended. Read it again to see where it stands.",
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
    detail: "Cycles that are due already are being issued as they stand. Repeat the change in a moment.",
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
  rate_limited: {
    kind: "rate-limited",
    title: "Too many requests",
    detail: "Wait as long as Retry-After says, then repeat the request.",
  },
  unavailable: {
    kind: "unavailable",
    title: "Temporarily unavailable",
    detail: "We cannot answer right now. Repeat the request as Retry-After says.",
  },
  internal_error: {
    kind: "bug",
    title: "Internal error",
    detail: "Something went wrong on our side. Repeat the request; if it persists, tell us the requestId.",
  },
} as const satisfies Record<string, ApiFaultSpec>;

export type ApiFaultCode = keyof typeof apiFaults;
export const fault = faultsOf(apiFaults);

/** A member that no schema can judge: `why` says what it has to be, as the schemas do. */
export function invalid(pointer: string, why: string): Fault {
  return fault("validation_failed", { pointer, why });
}

const { database_unavailable: _asUnavailable, ledger_conflict: _bug, ...publicKernelFaults } = kernelFaults;

export type PublicFaultCode = ApiFaultCode | keyof typeof publicKernelFaults;

/** Every code that can appear on the wire, for the pages at `/errors/{code}` and the reference. */
export const publicFaults: Readonly<Record<string, ApiFaultSpec>> = { ...publicKernelFaults, ...apiFaults };

/** What a caller is told of a fault: those of the inside become the general one of their kind. */
export function asPublic(seen: Fault): Fault {
  if (Object.hasOwn(publicFaults, seen.code)) return seen;
  if (seen.kind === "unavailable") return fault("unavailable", seen.context, seen);
  return seen.kind === "bug" ? fault("internal_error", {}, seen) : seen;
}
