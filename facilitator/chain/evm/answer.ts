import { type Address, type Hash, type Hex, parseAddress, parseHash, parseHex } from "#kernel/bytes";

/** An endpoint's answer that cannot be what was asked for. */
export class MalformedAnswer extends Error {
  constructor(what: string) {
    super(`malformed answer: ${what}`);
    this.name = "MalformedAnswer";
  }
}

/** Says no to answers of the wrong shape; what it lets through is an object whose fields are still to be read. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new MalformedAnswer("no object");
  return value as Readonly<Record<string, unknown>>;
}

export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswer("no list");
  return value;
}

/** A number in hex, of at most 256 bits. */
export function quantity(value: unknown): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new MalformedAnswer("no quantity");
  return BigInt(value);
}

/** A number that counts something: blocks, seconds, log indexes, transactions. */
export function count(value: unknown): number {
  const number = Number(quantity(value));
  if (!Number.isSafeInteger(number)) throw new MalformedAnswer("a count out of range");
  return number;
}

export function hash32(value: unknown): Hash {
  const hash = parseHash(value);
  if (!hash) throw new MalformedAnswer("no hash");
  return hash;
}

export function hexData(value: unknown): Hex {
  const data = parseHex(value);
  if (!data) throw new MalformedAnswer("no bytes");
  return data;
}

/** An address that stands in a whole word: a log topic or a storage slot. */
export function addressInWord(word: Hash): Address {
  const address = word.startsWith("0x000000000000000000000000") && parseAddress(`0x${word.slice(26)}`);
  if (!address) throw new MalformedAnswer("no address in a word");
  return address;
}

/** `null` stays null: a block or receipt that the endpoint does not have. */
export function orNull<T>(parse: (value: unknown) => T): (value: unknown) => T | null {
  return (value) => (value === null || value === undefined ? null : parse(value));
}

export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}
