import type { Address, Hash, Hex } from "#kernel/bytes";
import type { Call, TokenDomain } from "../chain/port.ts";
import type { Refusal } from "./reasons.ts";

/** A signed permission to move money, decoded to bytes and numbers. `validAfter`, `validBefore` in seconds. */
export interface Authorization {
  readonly method: "eip3009";
  readonly payer: Address;
  readonly payTo: Address;
  /** Atomic units of the token. */
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hash;
  readonly signature: Hex;
}

/** What the bytes of a signature alone can tell. `contract-or-forged`: recovery does not yield the payer, so only
 *  code at the payer's address can still make it right. */
export type SignatureVerdict =
  | { readonly kind: "recovered"; readonly signature: Hex }
  | { readonly kind: "contract-or-forged"; readonly digest: Hash }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** How one scheme on one chain family reads, checks and calls an authorization. Pure. */
export interface Scheme {
  readonly scheme: "exact";
  readonly family: "eip155";
  /** The contract whose nonces guard this authorization: the token for EIP-3009. */
  nonceDomain(token: Address): Address;
  read(payload: unknown): Authorization | Refusal;
  digest(domain: TokenDomain, authorization: Authorization): Hash;
  checkSignature(domain: TokenDomain, authorization: Authorization): SignatureVerdict;
  /** The token call that executes it: v,r,s for a payer without code, `bytes` for a contract wallet. */
  call(token: Address, authorization: Authorization, payerHasCode: boolean): Call;
}
