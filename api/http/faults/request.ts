import type { ApiFaultSpec } from "./spec.ts";

/** The shape of a request, its repetition, and what no single feature is to blame for. */
export const requestFaults = {
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
    detail: "Send the body as {type}.",
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
  version_conflict: {
    kind: "conflict",
    title: "Changed meanwhile",
    detail: "It is at version {currentVersion} by now. Read it again, and send the change with that version.",
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
