import { hash } from "node:crypto";
import type { Hash } from "./bytes.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** JSON with sorted keys: equal values give equal bytes, whatever order they came in. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "bigint") return JSON.stringify(value.toString());
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}

/** Of the parts as one follows the other; text as UTF-8. */
export function sha256(...parts: readonly (string | Uint8Array)[]): Hash {
  const [only = ""] = parts;
  const bytes = (part: string | Uint8Array) => (typeof part === "string" ? Buffer.from(part) : part);
  const whole = parts.length > 1 ? Buffer.concat(parts.map(bytes)) : only;
  // In one go it takes half the time: payloads and keys are hashed on every request.
  return `0x${hash("sha256", whole, "hex")}` as Hash;
}

/** Hash of a value's canonical JSON. */
export function stableHash(value: unknown): Hash {
  return sha256(canonicalJson(value));
}
