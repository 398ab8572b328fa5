/** A settlement proof is signed here, and checked by whoever holds it, without us. */
import {
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from "node:crypto";
import { type Hex, toBytes } from "#kernel/bytes";
import { canonicalJson, sha256 } from "#kernel/codec";
import { type SettlementProof, SignedProof } from "./schema.ts";

/** Ed25519 keys in their usual wrapping: these bytes, then the 32 of the key. */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

export interface ProofKey {
  /** 32 bytes, base64. */
  readonly publicKey: string;
  sign(proof: SettlementProof): SignedProof;
}

/** The key that signs proofs: the same for all processes and for the life of the master secret. */
export function proofKey(masterSecret: string | Uint8Array): ProofKey {
  const seed = Buffer.from(hkdfSync("sha256", masterSecret, "", "farebox settlement proofs v1", 32));
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX, seed]),
    format: "der",
    type: "pkcs8",
  });
  const publicKey = rawOf(createPublicKey(key));
  return {
    publicKey,
    sign(proof) {
      const digest = digestOf(proof);
      const signature = signBytes(null, toBytes(digest), key).toString("base64");
      return { proof, digest: digest.slice(2), algorithm: "Ed25519", publicKey, signature };
    },
  };
}

export type ProofProblem = "not-a-proof" | "digest-differs" | "other-key" | "bad-signature";

/** What is wrong with a proof, or null. Without `expectedKey` any key will do that signed it: then only that nothing was
 *  changed since is known, not by whom it was signed. */
export function problemOf(document: unknown, expectedKey: string | null): ProofProblem | null {
  const read = SignedProof.safeParse(document);
  if (!read.success) return "not-a-proof";
  // What was sent is hashed, not what was understood of it: an added field is a changed proof.
  const { proof } = document as { readonly proof: unknown };
  const { digest, publicKey, signature } = read.data;
  if (digestOf(proof) !== `0x${digest}`) return "digest-differs";
  if (expectedKey !== null && expectedKey !== publicKey) return "other-key";
  const key = publicKeyOf(publicKey);
  const bytes = fromBase64(signature);
  const isSigned = key && bytes && verifyBytes(null, Buffer.from(digest, "hex"), key, bytes);
  return isSigned ? null : "bad-signature";
}

/** Null for any but the one way of writing these bytes. */
function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

function digestOf(proof: unknown): Hex {
  return sha256(canonicalJson(proof));
}

function rawOf(key: KeyObject): string {
  const der = key.export({ format: "der", type: "spki" });
  return der.subarray(PUBLIC_PREFIX.length).toString("base64");
}

function publicKeyOf(raw: string): KeyObject | null {
  const bytes = fromBase64(raw);
  if (bytes?.length !== 32) return null;
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: "der", type: "spki" });
}
