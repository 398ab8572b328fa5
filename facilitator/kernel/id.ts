import { ulid } from "ulid";
import type { Clock, Random } from "./clock.ts";

/** What an id names; the prefix of every id of that kind. */
export type IdPrefix =
  | "pi"
  | "clr"
  | "stl"
  | "dep"
  | "re"
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
  | "aud";
export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`;

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/** Makes ids: prefix + ULID (48 bits of time, 80 random bits). Never monotonic: some ids are capabilities. */
export type NewId = <P extends IdPrefix>(prefix: P) => Id<P>;

export function idMaker({ clock, random }: { clock: Clock; random: Random }): NewId {
  const fraction = () => Buffer.from(random.bytes(4)).readUInt32BE() / 0x1_0000_0000;
  return (prefix) => `${prefix}_${ulid(clock.now().getTime(), fraction)}`;
}

/** Whether `text` is an id with this prefix; anything else is answered as not found, never sent to the database. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return new RegExp(`^${prefix}_${ULID}$`).test(text);
}
