import fc from "fast-check";
import { type Hex as AnyHex, keccak256, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { address, type Hex, hash } from "#kernel/bytes";
import type { TokenDomain } from "../../../facilitator/chain/port.ts";
import type { Authorization } from "../../../facilitator/scheme/port.ts";

export const curveOrder = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

export const domain: TokenDomain = {
  name: "USD Coin",
  version: "2",
  chainId: 31_337,
  verifyingContract: address("0x5fbdb2315678afecb367f032d93f642f64180aa3"),
};

/** The domain's type is spelled out, because viem drops an empty name or version from it. */
const transferTypes = {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

export const account = privateKeyToAccount(keccak256(stringToHex("a payer in a test")));
export const stranger = privateKeyToAccount(keccak256(stringToHex("somebody else in a test")));

export type Unsigned = Omit<Authorization, "signature">;

export const unsigned: Unsigned = {
  method: "eip3009",
  payer: address(account.address),
  payTo: address("0x70997970c51812dc3a010c7d01b50e0d17dc79c8"),
  value: 1_500_000n,
  validAfter: 0n,
  validBefore: 2_000_000_000n,
  nonce: hash(`0x${"a7".repeat(32)}`),
};

/** The same authorization as viem's typed-data functions take it. */
export function typedData(over: TokenDomain, authorization: Unsigned) {
  const { payer, payTo, value, validAfter, validBefore, nonce } = authorization;
  return {
    domain: { ...over, chainId: BigInt(over.chainId) },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message: { from: payer, to: payTo, value, validAfter, validBefore, nonce },
  } as const;
}

/** A signature as viem makes it: 65 bytes, low s, v 27 or 28. */
export function sign(unsignedAuthorization: Unsigned, by = account, over = domain): Promise<AnyHex> {
  return by.signTypedData(typedData(over, unsignedAuthorization));
}

/** The parts of a 65-byte signature, and the ways in which clients write it. */
export function formsOf(signature: AnyHex) {
  const rs = signature.slice(2, 130);
  const r = rs.slice(0, 64);
  const s = BigInt(`0x${rs.slice(64)}`);
  const recovery = Number.parseInt(signature.slice(130), 16) - 27;
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  const full = (v: number, sValue = s): Hex => `0x${r}${word(sValue)}${v.toString(16).padStart(2, "0")}`;
  return {
    recovery,
    full,
    /** v 27 or 28. */
    canonical: full(27 + recovery),
    /** v 0 or 1. */
    bare: full(recovery),
    /** ERC-2098. */
    compact: `0x${r}${word(s | (BigInt(recovery) << 255n))}` as Hex,
    /** The other s that the curve would take, with the parity that belongs to it. */
    high: full(28 - recovery, curveOrder - s),
  };
}

function hexOf(bytes: number) {
  return fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => `0x${Buffer.from(value).toString("hex")}`);
}
export const anyAddress = hexOf(20).map(address);
export const anyHash = hexOf(32).map(hash);
export const anyUint128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });

export const anyUnsigned: fc.Arbitrary<Unsigned> = fc.record({
  method: fc.constant("eip3009" as const),
  payer: anyAddress,
  payTo: anyAddress,
  value: anyUint128,
  validAfter: anyUint128,
  validBefore: anyUint128,
  nonce: anyHash,
});

export const anyDomain: fc.Arbitrary<TokenDomain> = fc.record({
  name: fc.string({ unit: "grapheme" }),
  version: fc.string(),
  chainId: fc.integer({ min: 1, max: 2 ** 32 }),
  verifyingContract: anyAddress,
});

/** What a client sends for an authorization. */
export function payloadOf(unsignedAuthorization: Unsigned, signature: string) {
  const { payer, payTo, value, validAfter, validBefore, nonce } = unsignedAuthorization;
  return {
    signature,
    authorization: {
      from: payer as string,
      to: payTo as string,
      value: value.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      nonce: nonce as string,
    },
  };
}
