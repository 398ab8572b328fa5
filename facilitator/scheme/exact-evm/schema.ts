import { z } from "zod";
import { type Hex, parseAddress, parseHash, parseHex } from "#kernel/bytes";
import { parseAtomic } from "#kernel/money";
import type { Authorization } from "../port.ts";
import type { Reason, Refusal } from "../reasons.ts";

/** The end of year 9999: the last second that RFC 3339 can write. Far above it lies a bit (47) by which some tokens
 *  take the bounds for block numbers. */
const LATEST_SECOND = 253_402_300_799n;

const addressField = field(
  "an address: 0x and 40 hex digits, with a right checksum if of mixed case",
  parseAddress,
);
const amountField = field("a string of decimal digits without leading zeros, below 2^128", parseAtomic);
const timeField = field("seconds since 1970 as a string of decimal digits, up to year 9999", parseTime);
const nonceField = field("32 bytes: 0x and 64 hex digits", parseHash);

const Authorized = z.object(
  {
    from: addressField,
    to: addressField,
    value: amountField,
    validAfter: timeField,
    validBefore: timeField,
    nonce: nonceField,
  },
  "expected an object with from, to, value, validAfter, validBefore and nonce",
);
const Eip3009Payload = z.object(
  {
    signature: z
      .string("expected a string of hex")
      .transform((text, ctx) => parseSignature(text) ?? refuse(ctx, `hex bytes; received ${show(text)}`)),
    authorization: Authorized,
  },
  "expected an object with signature and authorization",
);

/** Scheme data as it came → a decoded authorization, or the refusal that names the field at fault. Keys nobody signs
 *  are ignored: clients may add their own. Source: x402.md §8.1. */
export function readPayload(payload: unknown): Authorization | Refusal {
  const foreign = foreignMethod(payload);
  if (foreign) {
    const message = `The transfer method ${foreign} is not offered; sign an eip3009 authorization (TransferWithAuthorization).`;
    return { reason: "unsupported_payload_type", message };
  }
  const parsed = Eip3009Payload.safeParse(payload);
  if (!parsed.success) return refusalOf(parsed.error.issues);
  const { signature, authorization } = parsed.data;
  const { from: payer, to: payTo, value, validAfter, validBefore, nonce } = authorization;
  return { method: "eip3009", payer, payTo, value, validAfter, validBefore, nonce, signature };
}

/** The transfer method of a payload that is not ours. Permit2's branch starts here once it is built: its payload is
 *  told by `permit2Authorization`, its nonces live in the Permit2 contract. A payload of two methods is neither. */
function foreignMethod(payload: unknown): "permit2" | "erc7710" | null {
  if (typeof payload !== "object" || payload === null) return null;
  if ("permit2Authorization" in payload) return "permit2";
  return "delegationManager" in payload || "permissionContext" in payload ? "erc7710" : null;
}

function field<T>(expected: string, parse: (value: unknown) => T | null) {
  return z.unknown().transform((value, ctx) => {
    const parsed = parse(value);
    return parsed ?? refuse(ctx, `${expected}; received ${show(value)}`);
  });
}

function refuse(ctx: z.RefinementCtx, expected: string): never {
  ctx.addIssue({ code: "custom", message: `expected ${expected}` });
  return z.NEVER;
}

function refusalOf(issues: readonly z.core.$ZodIssue[]): Refusal {
  // A payload that is broken elsewhere too is first of all no payload.
  const issue = issues.find((each) => reasonOf(each) === "invalid_payload") ?? issues[0];
  if (!issue) return { reason: "invalid_payload", message: "The payload cannot be read." };
  const place = ["payload", ...issue.path].join(".");
  return { reason: reasonOf(issue), message: `${place}: ${issue.message}.` };
}

/** Text that is no signature has a reason of its own; no text at all is a broken payload. */
function reasonOf({ code, path }: z.core.$ZodIssue): Reason {
  const isSignatureText = code === "custom" && path[0] === "signature";
  return isSignatureText ? "invalid_exact_evm_failed_to_parse_signature" : "invalid_payload";
}

function parseSignature(text: string): Hex | null {
  const bytes = parseHex(text);
  return bytes === "0x" ? null : bytes;
}

function parseTime(value: unknown): bigint | null {
  const seconds = parseAtomic(value);
  return seconds !== null && seconds <= LATEST_SECOND ? seconds : null;
}

/** A stranger's text goes back into an answer that a model may read: only when it can carry no words. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value !== "string") return Array.isArray(value) ? "an array" : `a JSON ${typeof value}`;
  return /^[0-9A-Za-z.+-]{1,80}$/.test(value) ? `"${value}"` : `a string of ${value.length} characters`;
}
