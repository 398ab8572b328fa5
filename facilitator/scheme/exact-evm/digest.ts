import { fromBytes, type Hash } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import type { TokenDomain } from "../../chain/port.ts";
import type { Authorization } from "../port.ts";
import { putHex, putUint, WORD } from "../word.ts";

const DOMAIN_TYPE = keccakOfText(
  "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const TRANSFER_TYPE = keccakOfText(
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
);
const separators = new WeakMap<TokenDomain, Uint8Array>();

/** The 32 bytes a payer signs for a TransferWithAuthorization of the token behind `domain`. Packed by hand: hashing is
 *  then four times as fast as a general encoder. Source: EIP-712, EIP-3009, settlement.md §7. */
export function transferDigest(domain: TokenDomain, authorization: Authorization): Hash {
  const { payer, payTo, value, validAfter, validBefore, nonce } = authorization;
  const struct = Buffer.allocUnsafe(7 * WORD);
  struct.set(TRANSFER_TYPE, 0);
  putHex(struct, WORD, payer);
  putHex(struct, 2 * WORD, payTo);
  putUint(struct, 3 * WORD, value);
  putUint(struct, 4 * WORD, validAfter);
  putUint(struct, 5 * WORD, validBefore);
  putHex(struct, 6 * WORD, nonce);
  const signed = Buffer.allocUnsafe(2 + 2 * WORD);
  signed.writeUInt16BE(0x1901, 0);
  signed.set(domainSeparator(domain), 2);
  signed.set(keccak256(struct), 2 + WORD);
  return fromBytes(keccak256(signed)) as Hash;
}

function domainSeparator(domain: TokenDomain): Uint8Array {
  const known = separators.get(domain);
  if (known) return known;
  const { name, version, chainId, verifyingContract } = domain;
  const packed = Buffer.alloc(5 * WORD);
  packed.set(DOMAIN_TYPE, 0);
  packed.set(keccakOfText(name), WORD);
  packed.set(keccakOfText(version), 2 * WORD);
  putUint(packed, 3 * WORD, BigInt(chainId));
  putHex(packed, 4 * WORD, verifyingContract);
  const separator = keccak256(packed);
  separators.set(domain, separator);
  return separator;
}

function keccakOfText(text: string): Uint8Array {
  return keccak256(Buffer.from(text, "utf8"));
}
