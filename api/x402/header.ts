import { isUtf8 } from "node:buffer";
import type { Refusal } from "#facilitator";
import { canonicalJson } from "#kernel/codec";
import { Fault } from "#kernel/fault";
import { fault } from "../http/faults.ts";
import { parseStrict } from "../http/strict-json.ts";

/** Largest payment in a header, decoded. Source: x402.md §1, security.md §8. */
const MAX_DECODED_BYTES = 8_192;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What a request carries as payment: one payload, none (`null`), or something that cannot be one. */
export type Carried =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly refusal: Refusal };

/** A payment as it travels: an object, or the base64 of one. Where several came they must be the same. Values that are
 *  undefined did not come. */
export function carriedPayment(values: readonly unknown[]): Carried {
  const payloads: unknown[] = [];
  for (const value of values.filter((each) => each !== undefined && each !== null)) {
    const read = typeof value === "string" ? decode(value) : { payload: value };
    if ("problem" in read) return refused(`The payment cannot be read: ${read.problem}.`);
    if (typeof read.payload !== "object" || read.payload === null || Array.isArray(read.payload))
      return refused("The payment cannot be read: it must be an object.");
    payloads.push(read.payload);
  }
  const [first = null, ...others] = payloads;
  const isOne = others.every((other) => canonicalJson(other) === canonicalJson(first));
  return isOne ? { ok: true, payload: first } : refused("Two different payments came at once. Send one.");
}

/** Where a request carries its payment: v2's header before v1's. */
export const paymentHeaders = ["PAYMENT-SIGNATURE", "X-PAYMENT"] as const;

/** What the payment headers carry; `headerCount` tells how many of a name came. Fault: `duplicate_header`, for
 *  two of one name. Source: security.md §8. */
export function carriedInHeaders(
  header: (name: string) => string | null | undefined,
  headerCount: (name: string) => number = () => 1,
): Carried {
  const twice = paymentHeaders.find((name) => headerCount(name.toLowerCase()) > 1);
  if (twice) throw fault("duplicate_header", { header: twice });
  return carriedPayment(paymentHeaders.map((name) => header(name)));
}

function refused(message: string): Carried {
  return { ok: false, refusal: { reason: "invalid_payload", message } };
}

/** Strictly: the standard alphabet, padded, UTF-8, JSON without surprises. */
function decode(text: string): { readonly payload: unknown } | { readonly problem: string } {
  if (text.length > (MAX_DECODED_BYTES * 4) / 3 + 4)
    return { problem: `it is larger than ${MAX_DECODED_BYTES} bytes` };
  if (text === "" || !BASE64.test(text)) return { problem: "it is not base64 with padding" };
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > MAX_DECODED_BYTES) return { problem: `it is larger than ${MAX_DECODED_BYTES} bytes` };
  if (!isUtf8(bytes)) return { problem: "it is not UTF-8" };
  try {
    return { payload: parseStrict(bytes.toString("utf8")) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problem: "it is not JSON that we accept" };
  }
}
