/** A schema without references and `allOf`, for who draws it or makes an example of it. */
import { type Document, follow, nameOf, type Schema } from "./document.ts";

export interface Plain extends Omit<Schema, "$ref" | "allOf"> {
  /** Of the component that it is, as its documentation calls it. */
  readonly name: string | null;
  /** Components that it was made of: who meets one of them inside it again goes round in a circle. */
  readonly made: readonly string[];
}

/** References followed, and the parts of `allOf` laid over each other: a later part says more of the same members. */
export function plain(document: Document, of: Schema): Plain {
  const { $ref, allOf = [], ...own } = orNull(document, of);
  const below = $ref === undefined ? [] : [named(document, $ref)];
  const parts = [...below, ...allOf.map((part) => plain(document, part))];
  const made = parts.flatMap((part) => part.made);
  const { name: _name, made: _made, ...merged } = [...parts, own].reduce<Schema & Partial<Plain>>(merge, {});
  return { ...withoutStrangers(merged), name: nameFor(parts, own), made };
}

/** What may be one shape or null has one thing to show: that shape, with null among its types. */
function orNull(document: Document, of: Schema): Schema {
  const [one, ...others] = choicesOf(of);
  if (!one || others.length > 0 || !mayBeNull(of)) return of;
  const { anyOf: _anyOf, oneOf: _oneOf, ...own } = of;
  return { ...own, allOf: [one, { type: [...typesOf(plain(document, one)), "null"] }] };
}

/** A later part may leave fewer values than the one that gave the example. */
function withoutStrangers({ example, ...of }: Schema): Schema {
  return example === undefined || of.enum?.includes(example) === false ? of : { ...of, example };
}

function named(document: Document, reference: string): Plain {
  const name = nameOf(reference);
  const found = follow<Schema>(document, { $ref: reference });
  const whole = plain(document, found);
  return { ...whole, name, made: [name, ...whole.made] };
}

/** What adds members to a component is no longer that component. */
function nameFor(parts: readonly Plain[], own: Schema): string | null {
  const withName = parts.filter(({ name }) => name !== null);
  const adds = [...parts.filter(({ name }) => name === null), own].some(
    ({ properties }) => properties !== undefined,
  );
  return withName.length === 1 && !adds ? (withName[0]?.name ?? null) : null;
}

function merge(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [key, later] of Object.entries(other.properties ?? {})) {
    const earlier = properties[key];
    properties[key] = earlier ? { allOf: [earlier, later] } : later;
  }
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  return { ...one, ...other, ...(one.properties || other.properties ? { properties, required } : {}) };
}

/** The types that it may have, without null. */
export function typesOf({ type, properties, items, enum: values, const: only }: Schema): readonly string[] {
  if (type !== undefined) return (typeof type === "string" ? [type] : type).filter((each) => each !== "null");
  if (properties) return ["object"];
  if (items) return ["array"];
  const literal = only ?? values?.find((value) => value !== null);
  return literal === undefined ? [] : [typeof literal];
}

export function mayBeNull({ type, enum: values = [], anyOf = [], oneOf = [] }: Schema): boolean {
  const isNull = (of: Schema) => of.type === "null";
  return (
    (typeof type === "object" && type.includes("null")) ||
    values.includes(null) ||
    [...anyOf, ...oneOf].some(isNull)
  );
}

/** What it may be one of; null is told by the type. */
export function choicesOf({ oneOf = [], anyOf = [] }: Schema): readonly Schema[] {
  return [...oneOf, ...anyOf].filter(({ type }) => type !== "null");
}
