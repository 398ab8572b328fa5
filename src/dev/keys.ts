import { hkdfSync } from "node:crypto";

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** What a deployment derives from its master secret. */
export type KeyLabel = "payer" | "treasury" | "deployer" | `signer:${number}`;

/** A secp256k1 private key for `label`: the same secret and label always give the same key.
 *  HKDF-SHA256 to 48 bytes, reduced into 1…n-1: so many bytes that the reduction has no measurable bias. */
export function deriveKey(masterSecret: string, label: KeyLabel): `0x${string}` {
  const bytes = Buffer.from(hkdfSync("sha256", secretBytes(masterSecret), "farebox", `key:${label}`, 48));
  const key = (BigInt(`0x${bytes.toString("hex")}`) % (curveOrder - 1n)) + 1n;
  return `0x${key.toString(16).padStart(64, "0")}`;
}

/** Hex is read as bytes, with or without 0x; any other secret as its UTF-8 text. */
function secretBytes(masterSecret: string): Buffer {
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(masterSecret)?.[1];
  return hex ? Buffer.from(hex, "hex") : Buffer.from(masterSecret, "utf8");
}
