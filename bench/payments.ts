/** Payments signed before the clock runs. */
import { randomBytes } from "node:crypto";
import type { PaymentRequirements, ResourceInfo } from "@x402/core/types";
import secp256k1 from "secp256k1";
import { address, checksum, fromBytes, type Hash, hash, toBytes } from "#kernel/bytes";
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

  /** Bodies of verify and settle, good for ten minutes from now. */
  sign(count: number, offer: Offer): readonly string[] {
    const validBefore = Math.floor(Date.now() / 1000) + 600;
    return Array.from({ length: count }, () => {
      const payer = this.#payers[this.#next % this.#payers.length];
      if (!payer) throw new Error("no payers");
      this.#next += 1;
      return paymentBody(offer, payer, validBefore);
    });
  }
}

function paymentBody({ resource, requirements }: Offer, payer: Payer, validBefore: number): string {
  const nonce = fromBytes(randomBytes(32)) as Hash;
  const digest = digestOf(requirements, payer, { validBefore, nonce });
  const { signature, recid } = secp256k1.ecdsaSign(toBytes(digest), payer.privateKey);
  const authorization = {
    from: checksum(payer.address),
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
  payer: Payer,
  { validBefore, nonce }: { readonly validBefore: number; readonly nonce: Hash },
): Hash {
  const { name, version } = requirements.extra;
  if (typeof name !== "string" || typeof version !== "string") throw new Error("the offer names no domain");
  const chainId = Number(requirements.network.slice("eip155:".length));
  const domain = { name, version, chainId, verifyingContract: address(requirements.asset) };
  return transferDigest(domain, {
    method: "eip3009",
    payer: payer.address,
    payTo: address(requirements.payTo),
    value: BigInt(requirements.amount),
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: hash(nonce),
    signature: "0x",
  });
}
