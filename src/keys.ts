import { hkdfSync } from "node:crypto";

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** What a deployment derives from its master secret; all but the operator's key only where it runs on the local chain. */
export type KeyLabel = "operator" | "payer" | "treasury" | "deployer" | `signer:${number}`;

/** A secp256k1 private key for `label`: the same secret and label always give the same key.
 *  HKDF-SHA256 to 48 bytes, reduced into 1…n-1: so many bytes that the reduction has no measurable bias. */
export function deriveKey(masterSecret: string, label: KeyLabel): `0x${string}` {
  const bytes = derive(masterSecret, `key:${label}`, 48);
  const key = (BigInt(`0x${bytes.toString("hex")}`) % (curveOrder - 1n)) + 1n;
  return `0x${key.toString(16).padStart(64, "0")}`;
}

/** The seed of the account whose addresses take deposits, 64 bytes (HKDF-SHA256). Losing it loses what lies there. */
export function deriveDepositSeed(masterSecret: string): Uint8Array {
  return derive(masterSecret, "deposit seed", 64);
}

function derive(masterSecret: string, info: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secretBytes(masterSecret), "farebox", info, length));
}

/** Hex is read as bytes, with or without 0x; any other secret as its UTF-8 text. */
function secretBytes(masterSecret: string): Buffer {
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(masterSecret)?.[1];
  return hex ? Buffer.from(hex, "hex") : Buffer.from(masterSecret, "utf8");
}
