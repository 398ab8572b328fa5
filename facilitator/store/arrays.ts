import type { Hex } from "#kernel/bytes";

/** Arrays as PostgreSQL reads them. Statements over many rows carry thousands of elements, and the driver's own way
 *  takes several times as long. Text, documents and bytes go in PostgreSQL's binary form (array_recv in its sources), as
 *  text it would read them character by character, and bytes as digits: docs/decisions/0025. Other types go as text. */

/** PostgreSQL's numbers of the types whose elements go as they are. */
const OIDS: Readonly<Record<string, number>> = { text: 25, json: 114, jsonb: 3802 };
const OF_BYTES = 17;
/** What stands before each document of type jsonb. */
const JSONB_VERSION = "\u0001";

/** Dimensions, whether there are nulls, and the elements' type; then, unless it is empty, its length and first index. */
const EMPTY_HEADER = 12;
const HEADER = 20;
/** What stands before each element, and is its length; -1 for null. */
const PREFIX = 4;

/** One parameter for `…::type[]`. Elements are text, numbers, booleans or null; anything else is a bug. */
export function arrayOf(values: readonly unknown[], type: string): string | Buffer {
  const oid = OIDS[type];
  return oid === undefined
    ? literalOf(values)
    : packTexts(values, oid, type === "jsonb" ? JSONB_VERSION : "");
}

/** One parameter for `…::bytea[]`. */
export function bytesArrayOf(values: readonly (Hex | null | undefined)[]): Buffer {
  let size = HEADER + PREFIX * values.length;
  for (const value of values) if (value) size += (value.length - 2) / 2;
  const bytes = startArray(OF_BYTES, values.length, size);
  let at = HEADER;
  for (const value of values) {
    at = bytes.writeInt32BE(value ? (value.length - 2) / 2 : -1, at);
    if (value) at = writeHex(bytes, value, at);
  }
  return bytes;
}

function packTexts(values: readonly unknown[], oid: number, version: string): Buffer {
  const texts = values.map((value) => textOf(value, version));
  let size = HEADER + PREFIX * texts.length;
  for (const text of texts) if (text !== null) size += Buffer.byteLength(text);
  const bytes = startArray(oid, texts.length, size);
  let at = HEADER;
  for (const text of texts) {
    const length = text === null ? -1 : bytes.write(text, at + PREFIX);
    at = bytes.writeInt32BE(length, at) + Math.max(0, length);
  }
  return bytes;
}

function startArray(oid: number, length: number, size: number): Buffer {
  const isEmpty = length === 0;
  const bytes = Buffer.allocUnsafe(isEmpty ? EMPTY_HEADER : size);
  bytes.writeInt32BE(isEmpty ? 0 : 1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(oid, 8);
  if (isEmpty) return bytes;
  bytes.writeInt32BE(length, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}

const NO_DIGIT = 0xff;
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (const digits of ["0123456789abcdef", "0123456789ABCDEF"])
  for (const [value, digit] of [...digits].entries()) DIGITS[digit.charCodeAt(0)] = value;
const digitAt = (hex: Hex, at: number) => DIGITS[hex.charCodeAt(at)] ?? NO_DIGIT;

/** Returns where they end. By hand: the engine's own way copies the digits first, and ends early at what is none. */
function writeHex(bytes: Buffer, hex: Hex, from: number): number {
  let at = from;
  for (let i = 2; i < hex.length; i += 2) {
    const high = digitAt(hex, i);
    const low = digitAt(hex, i + 1);
    if (high === NO_DIGIT || low === NO_DIGIT) throw new TypeError("bytes that are not whole in hex digits");
    bytes[at] = (high << 4) | low;
    at += 1;
  }
  return at;
}

function textOf(value: unknown, version: string): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return version + value;
  throw new TypeError(`an array of text with a ${typeof value} in it cannot be sent to the database`);
}

/** Of numbers, truths and instants. */
function literalOf(values: readonly unknown[]): string {
  return `{${values.map(element).join(",")}}`;
}

function element(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `"${value.replace(/["\\]/g, "\\$&")}"`; // none in what goes this way, and none may break out
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value === null || value === undefined) return "NULL";
      throw new TypeError(`an array of ${typeof value} cannot be sent to the database`);
  }
}
