import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { fromBytes, type Hash, toBytes } from "#kernel/bytes";
import type { Random } from "#kernel/clock";

export type KeyKind = "sk" | "pk";
/** The master secret of a deployment, or a key derived from it. */
export type Secret = string | Uint8Array;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(
  `^(sk|pk)_([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}}([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** A new key: prefix, 12 characters that find its row, 32 secret ones (190 bits), a checksum. */
export function makeKey(kind: KeyKind, random: Random): string {
  return withChecksum(`${kind}_${base62(ID_LENGTH + SECRET_LENGTH, (length) => random.bytes(length))}`);
}

/** The same key for the same seed, for the sample merchant of a local deployment: a restart gives the key again. */
export function deriveKey(kind: KeyKind, seed: Secret): string {
  let round = 0;
  const stream = (length: number) =>
    new Uint8Array(hkdfSync("sha256", seed, "", `farebox ${kind} ${round++}`, length));
  return withChecksum(`${kind}_${base62(ID_LENGTH + SECRET_LENGTH, stream)}`);
}

/** The parts of a well-formed key; null for anything else. The checksum tells typos without a look at the database. */
export function readKey(text: string): { readonly kind: KeyKind; readonly keyId: string } | null {
  const [, kind, keyId] = SHAPE.exec(text) ?? [];
  if (kind === undefined || keyId === undefined) return null;
  if (withChecksum(text.slice(0, -CHECKSUM_LENGTH)) !== text) return null;
  return { kind: kind as KeyKind, keyId };
}

/** The key under which API keys are hashed; losing the master secret makes them all invalid. */
export function hashingKey(masterSecret: Secret): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", masterSecret, "", "farebox api keys v1", 32));
}

export function keyHmac(hashing: Uint8Array, key: string): Hash {
  return fromBytes(createHmac("sha256", hashing).update(key).digest()) as Hash;
}

/** Compared in constant time. */
export function sameHmac(a: Hash, b: Hash): boolean {
  return timingSafeEqual(toBytes(a), toBytes(b));
}

function withChecksum(key: string): string {
  let rest = crc32(key);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return key + digits;
}

/** Characters without bias: bytes of the uneven last stretch are thrown away. */
function base62(length: number, bytes: (length: number) => Uint8Array): string {
  let text = "";
  while (text.length < length)
    for (const byte of bytes(length))
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
  return text;
}
