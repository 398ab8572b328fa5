/** Authorizations as a payer's wallet makes them, with viem: foreign to the code under test. */
import { randomBytes } from "node:crypto";
import { encodeFunctionData, parseAbi, parseSignature } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Address, address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import type { Call, TokenDomain } from "../../facilitator/chain/port.ts";

export interface SignedAuthorization {
  readonly payer: Address;
  readonly nonce: Hash;
  readonly signature: Hex;
  /** The token call, v,r,s form. */
  readonly call: Call;
  /** The token call, `bytes` form. */
  readonly bytesCall: Call;
}

export interface AuthorizationTerms {
  readonly domain: TokenDomain;
  readonly key?: Hex;
  /** Who pays, when it is not the key's own account: a contract wallet. */
  readonly from?: Address;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
  readonly nonce?: Hash;
}

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;
const keyForm = parseAbi([
  "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
]);
const bytesForm = parseAbi([
  "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
]);

export function devDomain(token: Address, chainId = 31337): TokenDomain {
  return { name: "USD Coin", version: "2", chainId, verifyingContract: token };
}

export function newKey(): { readonly key: Hex; readonly address: Address } {
  const key = generatePrivateKey();
  return { key, address: address(privateKeyToAccount(key).address) };
}

/** Signed for ever unless told otherwise. */
export async function authorize(terms: AuthorizationTerms): Promise<SignedAuthorization> {
  const account = privateKeyToAccount(terms.key ?? generatePrivateKey());
  const message = {
    from: terms.from ?? account.address,
    to: terms.to as Address,
    value: terms.value,
    validAfter: terms.validAfter ?? 0n,
    validBefore: terms.validBefore ?? 1n << 40n,
    nonce: terms.nonce ?? (fromBytes(randomBytes(32)) as Hash),
  };
  const { domain } = terms;
  const signature = await account.signTypedData({
    domain,
    types,
    primaryType: "TransferWithAuthorization",
    message,
  });
  const { r, s, yParity } = parseSignature(signature);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const signed = [from, to, value, validAfter, validBefore, nonce] as const;
  const call = (data: Hex): Call => ({ to: domain.verifyingContract, data });
  const functionName = "transferWithAuthorization";
  return {
    payer: address(from),
    nonce,
    signature,
    call: call(encodeFunctionData({ abi: keyForm, functionName, args: [...signed, 27 + yParity, r, s] })),
    bytesCall: call(encodeFunctionData({ abi: bytesForm, functionName, args: [...signed, signature] })),
  };
}
