import { keccak256 } from "./keccak.ts";

/** Lower-case `0x` hex of any length. Everything inside the facilitator compares bytes in this one form. */
export type Hex = `0x${string}`;
/** A 20-byte account or contract, lower-case. Made by `address()` only; shown to the world by `checksum()`. */
export type Address = Hex & { readonly brand: "address" };
/** 32 bytes, lower-case: block and transaction hashes, authorization nonces, claim keys. */
export type Hash = Hex & { readonly brand: "hash" };

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})*$/;

/** The address in `text`, or null when it is none. A mixed-case address must carry a right EIP-55 checksum. */
export function parseAddress(text: unknown): Address | null {
  if (typeof text !== "string" || !ADDRESS.test(text)) return null;
  const lower = text.toLowerCase() as Address;
  return isMixedCase(text) && checksum(lower) !== text ? null : lower;
}

const isMixedCase = (text: string) => /[a-f]/.test(text) && /[A-F]/.test(text);

/** The address in `text`. Throws on anything else: for values that are ours, not a caller's. */
export function address(text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed) throw new TypeError(`not an address: ${text}`);
  return parsed;
}

/** 32 bytes of hex, or null. */
export function parseHash(text: unknown): Hash | null {
  return typeof text === "string" && HASH.test(text) ? (text.toLowerCase() as Hash) : null;
}

/** 32 bytes of hex. Throws on anything else: for values that are ours, not a caller's. */
export function hash(text: string): Hash {
  const parsed = parseHash(text);
  if (!parsed) throw new TypeError(`not 32 bytes of hex: ${text}`);
  return parsed;
}

/** Whole bytes of hex, or null. */
export function parseHex(text: unknown): Hex | null {
  return typeof text === "string" && HEX.test(text) ? (text.toLowerCase() as Hex) : null;
}

/** Bytes of their own, which nobody else holds. */
export function toBytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}

/** Lower-case, with its 0x, as every hex in here. */
export function fromBytes(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

const LETTER_A = 97;
const LOWER_TO_UPPER = 32;
const checksummed = new Map<Address, string>();

/** EIP-55 form. Stock clients compare `payTo` and `asset` with case, so the wire always carries this form. */
export function checksum(lower: Address): string {
  const known = checksummed.get(lower);
  if (known) return known;
  const digits = Buffer.from(lower.slice(2), "latin1");
  const digest = keccak256(digits);
  // A letter is upper-case where the hash's digit at its place is 8 or more.
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits[i] ?? 0;
    const isHigh = ((digest[i >> 1] ?? 0) & (i % 2 === 0 ? 0x80 : 0x08)) !== 0;
    if (isHigh && digit >= LETTER_A) digits[i] = digit - LOWER_TO_UPPER;
  }
  const shown = `0x${digits.toString("latin1")}`;
  if (checksummed.size > 10_000) checksummed.clear();
  checksummed.set(lower, shown);
  return shown;
}
