/** Accounts of a simulation, and what they sign. Payers sign on the curve, since the engine checks; lanes and the
 *  treasury write down what they would have signed. */
import curve from "secp256k1";
import { type Address, address, fromBytes, type Hash, type Hex, hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { keccak256 } from "#kernel/keccak";
import type { Call, Custodian, Signer, TokenDomain } from "../../../facilitator/chain/port.ts";
import { transferDigest } from "../../../facilitator/scheme/exact-evm/digest.ts";
import type { Transaction } from "./node.ts";

export interface Payer {
  readonly key: Buffer;
  readonly address: Address;
}

function accountOf(name: string): Payer {
  const key = toBytes(sha256(name));
  const point = curve.publicKeyCreate(key, false);
  return { key, address: address(fromBytes(keccak256(point.subarray(1)).subarray(12))) };
}

/** The same in every seed: what differs are their money and nonces. */
export const payers: readonly Payer[] = Array.from({ length: 4 }, (_, i) => accountOf(`payer ${i}`));
export const stranger = accountOf("stranger").address;
export const treasury = accountOf("treasury").address;
export const laneAddresses: readonly Address[] = [accountOf("lane 0").address, accountOf("lane 1").address];

export interface Terms {
  readonly payTo: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hash;
}

/** 65 bytes; noted in `signatures` for the token. */
export function signTerms(
  { key, address: payer }: Payer,
  domain: TokenDomain,
  terms: Terms,
  signatures: Map<string, Address>,
): Hex {
  const digest = transferDigest(domain, { method: "eip3009", payer, ...terms, signature: "0x" });
  const { signature, recid } = curve.ecdsaSign(toBytes(digest), key);
  signatures.set(Buffer.from(signature).toString("hex"), payer);
  return fromBytes(Buffer.from([...signature, 27 + recid]));
}

/** r and s that no key made, of the right form. */
export function forgedSignature(name: string): Hex {
  return `${sha256(name)}${`0${sha256(`${name} s`).slice(3)}`}1b` as Hex;
}

/** Signs as the treasury: nobody asks the curve about it, only the made-up token. */
export function simulatedCustodian(signatures: Map<string, Address>): Custodian {
  return {
    address: treasury,
    async sign(digest) {
      const made = forgedSignature(digest);
      signatures.set(made.slice(2, 130), treasury);
      return made;
    },
  };
}

interface Plain {
  readonly account: Address;
  readonly nonce: number;
  readonly gasLimit: string;
  readonly calls: readonly Call[];
  readonly fee: string;
}

/** Raw bytes say in plain words what they do. */
export function simulatedSigner(account: Address): Signer {
  return {
    address: account,
    refuses: () => false,
    refusal: () => null,
    async sign(_row, { nonce, calls, gasLimit, maxFeePerGas }) {
      const plain: Plain = { account, nonce, gasLimit: `${gasLimit}`, calls, fee: `${maxFeePerGas}` };
      const raw = fromBytes(Buffer.from(JSON.stringify(plain)));
      return { raw, hash: sha256(raw) };
    },
  };
}

export function decodeRaw(raw: Hex): Transaction {
  const { account, nonce, gasLimit, calls }: Plain = JSON.parse(toBytes(raw).toString());
  return { hash: hash(sha256(raw)), lane: { account, nonce, gasLimit: BigInt(gasLimit) }, calls };
}
