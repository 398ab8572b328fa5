/** Payments as any x402 client makes them, for what a facilitator is asked to take. */
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Address, address } from "#kernel/bytes";
import type { Body, Option } from "../bad-input/row.ts";
import { signedBy, type Terms } from "../signed.ts";

/** What is paid for: the option of a 402 and the resource it names. */
export interface Offer {
  readonly url: string;
  readonly option: Option;
}

export interface Payer {
  readonly key: Hex;
  readonly address: Address;
}

export function newPayer(): Payer {
  const key = generatePrivateKey();
  return { key, address: address(privateKeyToAccount(key).address) };
}

export function domainOf({ network, asset, extra }: Option): Terms["domain"] {
  return {
    name: String(extra.name),
    version: String(extra.version),
    chainId: Number(network.slice("eip155:".length)),
    verifyingContract: address(asset),
  };
}

/** The body of verify and settle. Without fault, unless `terms` bring one. */
export async function paymentFor(
  { url, option }: Offer,
  payer: Payer,
  terms: Partial<Terms> & { readonly validBefore: bigint },
): Promise<Body> {
  const asked = { domain: domainOf(option), to: option.payTo, value: BigInt(option.amount) };
  const payload = await signedBy(payer, { ...asked, ...terms });
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, resource: { url }, accepted: option, payload },
    paymentRequirements: option,
  };
}
