import type { ApiFaultSpec } from "./spec.ts";

/** Who calls: keys, sessions and signatures, and what they may do. */
export const callerFaults = {
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
  merchant_suspended: {
    kind: "forbidden",
    title: "Merchant suspended",
    detail:
      "The operator of this deployment has suspended the merchant: it asks for no payments and takes none, and pays nothing out. It can read everything, and refund what it was paid. GET /v1/merchant tells it why.",
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
  key_revoked: {
    kind: "conflict",
    title: "Key revoked",
    detail: "This key is revoked, or was replaced already and is about to end. Create or rotate another one.",
  },
} as const satisfies Record<string, ApiFaultSpec>;
