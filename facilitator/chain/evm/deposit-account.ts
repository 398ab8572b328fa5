import { ECDH } from "node:crypto";
import { HDKey, sign } from "viem/accounts";
import { type Address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { keccak256 } from "#kernel/keccak";
import type { DepositAccount } from "../port.ts";

/** BIP-44: ether's coin type, account 1 (0 is left to people), external chain. */
const PATH = "m/44'/60'/1'/0";
/** Not hardened: addresses follow from the public half. */
const INDEXES = 2 ** 31;
const MOST_KNOWN = 10_000;

/** The deposit account of a seed, held in this process. Without `canSign` the private half is dropped: addresses can be
 *  told, and nothing moved. Source: BIP-32, BIP-44. */
export function depositAccountOf(
  seed: Uint8Array,
  { canSign }: { readonly canSign: boolean },
): DepositAccount {
  const parent = HDKey.fromMasterSeed(seed).derive(PATH);
  const addressOf = addressesOf(HDKey.fromExtendedKey(parent.publicExtendedKey));
  return { addressOf, sign: canSign ? (index, digest) => signAs(parent, index, digest) : null };
}

function addressesOf(parent: HDKey): (index: number) => Address {
  const known = new Map<number, Address>();
  return (index) => {
    const found = known.get(index);
    if (found) return found;
    const derived = addressAt(parent, index);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(index, derived);
    return derived;
  };
}

function addressAt(parent: HDKey, index: number): Address {
  const { publicKey } = childAt(parent, index);
  assert(publicKey, "an extended key has a public half");
  const point = ECDH.convertKey(publicKey, "secp256k1", undefined, undefined, "uncompressed");
  assert(Buffer.isBuffer(point), "bytes go in and come out");
  return fromBytes(keccak256(point.subarray(1)).subarray(12)) as Address;
}

async function signAs(parent: HDKey, index: number, digest: Hash): Promise<Hex> {
  const { privateKey } = childAt(parent, index);
  assert(privateKey, "the private half was kept");
  return sign({ hash: digest, privateKey: fromBytes(privateKey), to: "hex" });
}

function childAt(parent: HDKey, index: number): HDKey {
  assert(Number.isInteger(index) && index >= 0 && index < INDEXES, "a deposit index is below 2^31");
  return parent.deriveChild(index);
}
