import { type Fields, fieldOf } from "./form.ts";

/** How many rows of a list of a form have something in them. */
export function countRows(fields: Fields, list: string): number {
  return Math.max(0, ...fields.map(([name]) => placeOf(name, list) + 1));
}

/** A list without its empty rows: those in which none of these members says anything. The others close up, so that what is
 *  wrong with one is found at its place. */
export function closeUp(fields: Fields, list: string, members: readonly string[]): Fields {
  const count = Math.min(countRows(fields, list), MOST_ROWS);
  const full = Array.from({ length: count }, (_, i) => i).filter((i) =>
    members.some((member) => fieldOf(fields, `${list}.${i}.${member}`) !== undefined),
  );
  return fields.flatMap(([name, value]) => {
    const at = placeOf(name, list);
    if (at < 0) return [[name, value] as const];
    const place = full.indexOf(at);
    return place < 0 ? [] : [[`${list}.${place}${name.slice(`${list}.${at}`.length)}`, value] as const];
  });
}

/** An amount that says no unit is in this one. */
export function amountsIn(fields: Fields, unit: string | undefined): Fields {
  if (unit === undefined) return fields;
  const amounts = fields.flatMap(([name]) =>
    name.endsWith(".amount") ? [name.replace(/amount$/, "asset")] : [],
  );
  const silent = amounts.filter((asset) => fieldOf(fields, asset) === undefined);
  return [...fields, ...silent.map((asset) => [asset, unit] as const)];
}

/** The same with these fields, where they were left empty: what a form clears, and what it leaves unchecked. */
export function withEmpty(fields: Fields, names: readonly string[]): Fields {
  const empty = names.filter((name) => fieldOf(fields, name) === undefined);
  return [...fields, ...empty.map((name) => [name, ""] as const)];
}

/** Readers: a number, a yes or no, an instant of a clock in UTC, the end of a day in UTC. What is none of them stays text,
 *  for the schema to refuse. */
export function toNumber(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

export function toFlag(text: string): boolean | string {
  return text === "true" || text === "" ? text === "true" : text;
}

export function toInstant(text: string): string {
  return /T\d\d:\d\d$/.test(text) ? `${text}:00Z` : `${text}Z`;
}

export function toDayEnd(text: string): string {
  return `${text}T23:59:59Z`;
}

/** The reader of a field that clears its member where it is empty. */
export function orNull(read: (text: string) => unknown = (text) => text): (text: string) => unknown {
  return (text) => (text === "" ? null : read(text));
}

/** An instant as a field for day and time holds it. */
export function clockOf(instant: string | null): string {
  return instant === null ? "" : instant.replace(/(?::00\.000)?Z$/, "");
}

const MOST_ROWS = 200;

/** The place of a field in a list; -1 where it is not of the list. */
function placeOf(name: string, list: string): number {
  const [, digits] = name.startsWith(`${list}.`)
    ? (/^\.(\d{1,9})\./.exec(name.slice(list.length)) ?? [])
    : [];
  return digits === undefined ? -1 : Number(digits);
}
