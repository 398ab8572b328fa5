/** Payments signed before the clock runs. */
import { randomBytes } from "node:crypto";
import type { PaymentRequirements, ResourceInfo } from "@x402/core/types";
import secp256k1 from "secp256k1";
import { type Address, address, checksum, fromBytes, type Hash, hash, toBytes } from "#kernel/bytes";
import { transferDigest } from "../facilitator/scheme/exact-evm/digest.ts";
import type { Payer } from "./payers.ts";

/** What is paid for: the option of a 402 and the resource it names. */
export interface Offer {
  readonly resource: ResourceInfo;
  readonly requirements: PaymentRequirements;
}

/** Hands out payments one after the other; each is new, and a payer comes again only when all others have paid. */
export class Purse {
  readonly #payers: readonly Payer[];
  #next = 0;

  constructor(payers: readonly Payer[]) {
    this.#payers = payers;
  }

  /** Bodies of verify and settle, good for ten minutes from now unless told otherwise. */
  sign(count: number, offer: Offer, lifeSeconds = 600): readonly string[] {
    const validBefore = Math.floor(Date.now() / 1000) + lifeSeconds;
    return Array.from({ length: count }, () => {
      const payer = this.#payers[this.#next % this.#payers.length];
      if (!payer) throw new Error("no payers");
      this.#next += 1;
      return paymentBody(offer, payer, { validBefore });
    });
  }
}

export interface Terms {
  /** Seconds since 1970. */
  readonly validBefore: number;
  /** Whose money it is; of whoever signs unless told otherwise. */
  readonly from?: Address;
}

/** A body of verify and settle with a nonce of its own. */
export function paymentBody({ resource, requirements }: Offer, payer: Payer, terms: Terms): string {
  const { validBefore, from = payer.address } = terms;
  const nonce = fromBytes(randomBytes(32)) as Hash;
  const digest = digestOf(requirements, from, { validBefore, nonce });
  const { signature, recid } = secp256k1.ecdsaSign(toBytes(digest), payer.privateKey);
  const authorization = {
    from: checksum(from),
    to: requirements.payTo,
    value: requirements.amount,
    validAfter: "0",
    validBefore: String(validBefore),
    nonce,
  };
  const payload = { signature: `${fromBytes(signature)}${(27 + recid).toString(16)}`, authorization };
  const paymentPayload = { x402Version: 2, payload, resource, accepted: requirements };
  return JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements });
}

function digestOf(
  requirements: PaymentRequirements,
  payer: Address,
  { validBefore, nonce }: { readonly validBefore: number; readonly nonce: Hash },
): Hash {
  const { name, version } = requirements.extra;
  if (typeof name !== "string" || typeof version !== "string") throw new Error("the offer names no domain");
  const chainId = Number(requirements.network.slice("eip155:".length));
  const domain = { name, version, chainId, verifyingContract: address(requirements.asset) };
  return transferDigest(domain, {
    method: "eip3009",
    payer,
    payTo: address(requirements.payTo),
    value: BigInt(requirements.amount),
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: hash(nonce),
    signature: "0x",
  });
}
