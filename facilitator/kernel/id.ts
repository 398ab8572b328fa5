import { decodeTime, encodeTime } from "ulid";
import type { Clock, Random } from "./clock.ts";

/** What an id names; the prefix of every id of that kind. */
export type IdPrefix =
  | "pi"
  | "clr"
  | "stl"
  | "dep"
  | "re"
  | "ret"
  | "inv"
  | "plink"
  | "sub"
  | "cus"
  | "prod"
  | "ord"
  | "x402r"
  | "evt"
  | "whe"
  | "whd"
  | "po"
  | "pad"
  | "key"
  | "mer"
  | "je"
  | "req"
  | "cart"
  | "rate"
  | "aud"
  | "mail";
export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`;

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const TIME_LETTERS = 10;
const RANDOM_LETTERS = 16;

/** Makes ids: prefix + ULID (48 bits of time, 80 random bits). Never monotonic: some ids are capabilities. */
export type NewId = <P extends IdPrefix>(prefix: P) => Id<P>;

export function idMaker({ clock, random }: { clock: Clock; random: Random }): NewId {
  let [madeAt, time] = [Number.NaN, ""];
  return (prefix) => {
    const now = clock.now().getTime();
    if (now !== madeAt) [madeAt, time] = [now, encodeTime(now, TIME_LETTERS)];
    // One byte for a letter: 32 letters divide 256, so each is as likely. The package asks for every letter apart. As
    // codes: text that grows letter by letter takes nearly twice as long, and a payment has seven ids.
    const codes: number[] = [];
    for (const byte of random.bytes(RANDOM_LETTERS)) codes.push(LETTERS.charCodeAt(byte % LETTERS.length));
    return `${prefix}_${time}${String.fromCharCode(...codes)}`;
  };
}

/** Whether `text` is an id with this prefix; anything else is answered as not found, never sent to the database. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && ULID.test(text.slice(prefix.length + 1));
}

const LAST_MS = 2 ** 48 - 1;

/** No id with this prefix that was made at `instant` or later comes before this one. */
export function leastIdOf<P extends IdPrefix>(prefix: P, instant: Date): Id<P> {
  const ms = Math.min(Math.max(instant.getTime(), 0), LAST_MS);
  return `${prefix}_${encodeTime(ms, TIME_LETTERS)}${"0".repeat(RANDOM_LETTERS)}`;
}

/** When an id was made, by the clock of who made it. */
export function timeOf(id: Id): Date {
  return new Date(decodeTime(id.slice(id.indexOf("_") + 1)));
}
