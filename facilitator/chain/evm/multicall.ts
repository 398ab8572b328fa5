import type { Address, Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import type { Call } from "../port.ts";
import { MalformedAnswer } from "./answer.ts";

/** aggregate3((address target,bool allowFailure,bytes callData)[]) returns ((bool success,bytes returnData)[]) */
export const AGGREGATE3 = "0x82ad56cb";
/** getBlockNumber() */
export const GET_BLOCK_NUMBER: Hex = "0x42cbb15c";
/** getCurrentBlockTimestamp() */
export const GET_BLOCK_TIMESTAMP: Hex = "0x0f28c97d";
/** getBasefee() */
export const GET_BASE_FEE: Hex = "0x3e64a696";

export interface CallResult {
  readonly success: boolean;
  readonly data: Hex;
}

/** Hex digits of a word. */
const WORD = 64;
const BYTES = 32;
const ZEROS = "0".repeat(WORD);
/** A number wider than this in an answer is nonsense, and would not be exact. */
const NUMBER_DIGITS = 12;
const SMALL_NUMBER = ZEROS.slice(NUMBER_DIGITS);

/** allowFailure = true, and where the bytes begin: the same in every item. */
const ALLOWED_TO_FAIL = word(1) + word(3 * BYTES);

/** Calldata of an aggregate3 in which every call may fail. Packed by hand: this runs for every verify, and a general
 *  encoder takes many times as long. */
export function packAggregate3(calls: readonly Call[]): Hex {
  let offsets = "";
  let items = "";
  let at = calls.length * BYTES;
  for (const { to, data } of calls) {
    const digits = data.length - 2;
    const missing = (WORD - (digits % WORD)) % WORD;
    offsets += word(at);
    items += `${ZEROS.slice(0, 24)}${to.slice(2)}${ALLOWED_TO_FAIL}${word(digits / 2)}${data.slice(2)}`;
    items += ZEROS.slice(0, missing);
    at += 4 * BYTES + (digits + missing) / 2;
  }
  return `${AGGREGATE3}${word(BYTES)}${word(calls.length)}${offsets}${items}`;
}

/** The results of an aggregate3 of `count` calls. Throws on anything that is not exactly that. */
export function unpackResults(answer: Hex, count: number): readonly CallResult[] {
  const list = 2 + WORD * 2;
  if (numberAt(answer, 2) !== BYTES || numberAt(answer, 2 + WORD) !== count) {
    throw new MalformedAnswer("results of other calls");
  }
  const results: CallResult[] = [];
  for (let i = 0; i < count; i++) {
    const item = list + numberAt(answer, list + i * WORD) * 2;
    const success = numberAt(answer, item);
    const bytes = item + numberAt(answer, item + WORD) * 2;
    const end = bytes + WORD + numberAt(answer, bytes) * 2;
    if (success > 1 || end > answer.length) throw new MalformedAnswer("a result out of bounds");
    results.push({ success: success === 1, data: `0x${answer.slice(bytes + WORD, end)}` });
  }
  return results;
}

/** The calls inside an aggregate3's calldata, or null unless it is, byte for byte, what `packAggregate3` makes. */
export function unpackCalls(data: Hex): readonly Call[] | null {
  try {
    const calls = readCalls(data);
    return packAggregate3(calls) === data ? calls : null;
  } catch (error) {
    if (error instanceof MalformedAnswer) return null;
    throw error;
  }
}

function readCalls(data: Hex): readonly Call[] {
  const count = numberAt(data, 10 + WORD);
  const list = 10 + WORD * 2;
  if (list + count * WORD > data.length) throw new MalformedAnswer("calls out of bounds");
  return Array.from({ length: count }, (_, i) => {
    const item = list + numberAt(data, list + i * WORD) * 2;
    const bytes = item + WORD * 3;
    const end = bytes + WORD + numberAt(data, bytes) * 2;
    return {
      to: `0x${data.slice(item + 24, item + WORD)}` as Address,
      data: `0x${data.slice(bytes + WORD, end)}` as Hex,
    };
  });
}

/** A whole word as a number. Throws when the word is cut off or holds more than a length or offset could be. */
function numberAt(hex: string, at: number): number {
  const number = Number(`0x${hex.slice(at + WORD - NUMBER_DIGITS, at + WORD)}`);
  const isWord = hex.length >= at + WORD && hex.startsWith(SMALL_NUMBER, at);
  if (!isWord || Number.isNaN(number)) throw new MalformedAnswer("no length or offset");
  return number;
}

/** A number as 32 bytes of hex digits. */
export function word(value: number | bigint): string {
  const digits = value.toString(16);
  assert(digits.length <= WORD && digits.charAt(0) !== "-", "a number does not fit into a word");
  return ZEROS.slice(digits.length) + digits;
}

/** An address as 32 bytes of hex digits. */
export function addressWord(address: Address): string {
  return ZEROS.slice(0, 24) + address.slice(2);
}
