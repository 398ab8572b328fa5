import { type Hex, toBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";

/** Bytes of one word of the EVM. */
export const WORD = 32;

const UINT64 = 0xffff_ffff_ffff_ffffn;

/** Writes a number as 32 bytes, big end first. Digests, calls and keys all pack their numbers this way. */
export function putUint(out: Buffer, at: number, value: bigint): void {
  assert(value >= 0n && value >> 256n === 0n, "a number does not fit into a word");
  for (let i = 0; i < 4; i++) {
    out.writeBigUInt64BE((value >> BigInt(64 * (3 - i))) & UINT64, at + 8 * i);
  }
}

/** Writes 32 bytes that are known as hex, or fewer (an address) to the right end of a word of zeros. */
export function putHex(out: Buffer, at: number, value: Hex): void {
  const bytes = toBytes(value);
  assert(bytes.length <= WORD, "hex does not fit into a word");
  out.fill(0, at, at + WORD);
  bytes.copy(out, at + WORD - bytes.length);
}
