import type { Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";

/** Bytes of one word of the EVM. */
export const WORD = 32;

const UINT64 = 0xffff_ffff_ffff_ffffn;

/** Writes a number as 32 bytes, big end first. Digests, calls and keys all pack their numbers this way. */
export function putUint(out: Buffer, at: number, value: bigint): void {
  assert(value >= 0n && value >> 256n === 0n, "a number does not fit into a word");
  for (let rest = value, end = at + WORD; end > at; rest >>= 64n, end -= 8) {
    if (rest === 0n) return void out.fill(0, at, end); // most are times and amounts: one limb
    out.writeBigUInt64BE(rest & UINT64, end - 8);
  }
}

/** Writes 32 bytes that are known as hex, or fewer (an address) to the right end of a word of zeros. */
export function putHex(out: Buffer, at: number, value: Hex): void {
  const length = (value.length - 2) / 2;
  assert(length <= WORD, "hex does not fit into a word");
  out.fill(0, at, at + WORD - length);
  out.write(value.slice(2), at + WORD - length, "hex");
}
