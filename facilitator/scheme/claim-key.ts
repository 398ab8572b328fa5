import { type Address, type Hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import type { Authorization } from "./port.ts";
import { putUint, WORD } from "./word.ts";

/** What makes an authorization the one it is. `nonceDomain`: the contract that keeps its nonces. */
export interface ClaimKeyParts {
  readonly chainId: number;
  readonly nonceDomain: Address;
  readonly payer: Address;
  readonly nonce: Hash;
}

const CLAIM = Buffer.from("farebox/claim/v1");

/** The key of a payment, of decoded bytes only: letter case, signature form and transport cannot change it.
 *  Source: DESIGN 4.2, settlement.md §2. */
export function claimKey({ chainId, nonceDomain, payer, nonce }: ClaimKeyParts): Hash {
  // Packed in one piece: every request computes it, and what it is made of has fixed widths.
  const packed = Buffer.alloc(CLAIM.length + WORD + 20 + 20 + WORD);
  packed.set(CLAIM);
  putUint(packed, CLAIM.length, BigInt(chainId));
  packed.write(nonceDomain.slice(2) + payer.slice(2) + nonce.slice(2), CLAIM.length + WORD, "hex");
  return sha256(packed);
}

/** What a claim was made with. Same key and same fingerprint is a re-send; same key and any other fingerprint is
 *  bound elsewhere. `exact` signs payee and amount themselves, so the terms need no fields of their own.
 *  Source: settlement.md §2. */
export function fingerprint({
  authorization,
  payableId,
  token,
  chainId,
}: {
  readonly authorization: Omit<Authorization, "signature">;
  readonly payableId: string;
  readonly token: Address;
  readonly chainId: number;
}): Hash {
  const { payer, payTo, value, validAfter, validBefore, nonce } = authorization;
  return sha256(
    "farebox/fingerprint/v1",
    uint(BigInt(chainId)),
    toBytes(token),
    toBytes(payer),
    toBytes(payTo),
    uint(value),
    uint(validAfter),
    uint(validBefore),
    toBytes(nonce),
    // Hashed, because an id has no fixed width.
    toBytes(sha256(payableId)),
  );
}

function uint(value: bigint): Buffer {
  const out = Buffer.alloc(WORD);
  putUint(out, 0, value);
  return out;
}
