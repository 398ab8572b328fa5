/** Where a payment intent stands, as its merchant sees it. Source: merchant-api.md §1.1. */
export const intentStatuses = ["created", "clearing", "completed", "failed", "expired", "cancelled"] as const;
export type IntentStatus = (typeof intentStatuses)[number];

/** Where the money of an intent stands, once it was handed to clearing; `api/clearing/state.ts` has the transitions.
 *  Source: merchant-api.md §1.2. */
export const clearingStates = [
  "created",
  "awaiting-funds",
  "funds-detected",
  "funds-received",
  "settling",
  "settled",
  "in-review",
  "expired",
  "failed",
  "cancelled",
  "returned",
  "reversed",
] as const;
export type ClearingState = (typeof clearingStates)[number];

/** The status follows from the state of the clearing, never the other way; a check of the table asserts it. */
export const statusOf = {
  created: "clearing",
  "awaiting-funds": "clearing",
  "funds-detected": "clearing",
  "funds-received": "clearing",
  settling: "clearing",
  "in-review": "clearing",
  settled: "completed",
  failed: "failed",
  reversed: "failed",
  returned: "failed",
  expired: "expired",
  cancelled: "cancelled",
} as const satisfies Record<ClearingState, IntentStatus>;

/** What an intent without a clearing can be. */
export const unclearedStatuses = [
  "created",
  "expired",
  "cancelled",
] as const satisfies readonly IntentStatus[];

/** What an intent was made by. */
export const intentSources = [
  "api",
  "cart",
  "payment-link",
  "invoice",
  "subscription",
  "x402",
  "dashboard",
] as const;
export type IntentSource = (typeof intentSources)[number];

/** Who moves the money: our own engine, or the simulator of a sandbox. */
export const providers = ["evm", "sandbox"] as const;
export type Provider = (typeof providers)[number];

/** Why a payment failed; the same words for an intent and for its clearing. */
export const failureReasons = [
  "deposit_underpaid",
  "settlement_reverted",
  "settlement_timeout",
  "order_expired",
  "authorization_expired",
  "authorization_invalid",
  "insufficient_funds",
  "nonce_already_used",
  "rate_unavailable",
  "provider_error",
  "asset_paused",
  "address_blocked",
  "reorged",
  "review_returned",
] as const;
export type FailureReason = (typeof failureReasons)[number];
