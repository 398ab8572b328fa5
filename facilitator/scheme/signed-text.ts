import { type Address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import { recover } from "./exact-evm/curve.ts";
import { signatureForm } from "./exact-evm/signature.ts";

/** What a wallet signs for a text (`personal_sign`). Source: EIP-191. */
export function textDigest(text: string): Hash {
  const bytes = Buffer.from(text, "utf8");
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`, "utf8");
  return fromBytes(keccak256(Buffer.concat([prefix, bytes]))) as Hash;
}

/** The account whose key made a signature; null where no key could have. */
export function signerOf(digest: Hash, signature: Hex): Address | null {
  const form = signatureForm(signature);
  return form.kind === "key" ? recover(digest, form.rs, form.recovery) : null;
}
