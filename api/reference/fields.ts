/** What a schema asks for, in words and rows. Pure. */
import type { Document, Schema } from "./document.ts";
import { choicesOf, mayBeNull, type Plain, plain, typesOf } from "./schema.ts";

/** A rule that a value keeps; `code` is what it must be, letter by letter. */
export interface Rule {
  readonly words: string;
  readonly code?: string;
}
export interface Shape {
  /** In words, such as `list of Money` or `string or null`. */
  readonly type: string;
  readonly about: string;
  readonly isDeprecated: boolean;
  readonly rules: readonly Rule[];
  readonly values: readonly string[];
  /** Members of the object, or of the objects that a list or a map holds. */
  readonly fields: readonly Field[];
  /** Members beside these are refused. */
  readonly isClosed: boolean;
  /** Shapes of which it has one. */
  readonly choices: readonly Shape[];
}
export interface Field extends Shape {
  readonly name: string;
  readonly isRequired: boolean;
}

/** `around` are the components that this one lies in: what contains itself is named there, and not drawn again. */
export function shapeOf(document: Document, schema: Schema, around: readonly string[] = []): Shape {
  const of = plain(document, schema);
  const isCircle = of.made.some((name) => around.includes(name));
  const within = [...around, ...of.made];
  const held = isCircle ? undefined : heldBy(of);
  const inside = held && shapeOf(document, held, within);
  return {
    type: typeInWords(of, inside),
    about: of.description ?? "",
    isDeprecated: of.deprecated ?? false,
    isClosed: of.additionalProperties === false,
    rules: [...rulesOf(of), ...(inside && typesOf(of)[0] === "array" ? inside.rules.map(each) : [])],
    values: [...valuesOf(of), ...(inside?.values ?? [])],
    fields: isCircle ? [] : [...fieldsOf(document, of, within), ...(inside?.fields ?? [])],
    choices: isCircle
      ? []
      : [...choicesOf(of).map((one) => shapeOf(document, one, within)), ...(inside?.choices ?? [])],
  };
}

/** What a list or a map holds. */
function heldBy({ items, additionalProperties, properties }: Plain): Schema | undefined {
  if (items) return items;
  const isMap = typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0;
  return isMap && !properties ? additionalProperties : undefined;
}

function fieldsOf(document: Document, { properties = {}, required = [] }: Plain, around: readonly string[]) {
  return Object.entries(properties).map(
    ([name, schema]): Field => ({
      name,
      isRequired: required.includes(name),
      ...shapeOf(document, schema, around),
    }),
  );
}

function typeInWords(of: Plain, inside: Shape | undefined): string {
  const types = typesOf(of).map((type) => {
    if (type === "array") return inside ? `list of ${inside.type}` : "list";
    if (type === "object") return inside ? `map of ${inside.type}` : (of.name ?? "object");
    return of.format === undefined ? type : `${type}, ${of.format}`;
  });
  const words = types.join(" or ") || of.name || (choicesOf(of).length > 0 ? "one of several" : "anything");
  return mayBeNull(of) ? `${words} or null` : words;
}

const each = ({ words, ...rest }: Rule): Rule => ({ words: `each ${words}`, ...rest });

function rulesOf(of: Plain): readonly Rule[] {
  const { enum: values, example, pattern } = of;
  // Where all values are told, one of them is no news; what has members shows them.
  const isTelling = values === undefined && typeof example !== "object";
  return [
    ...range(of.minLength, of.maxLength, "characters"),
    ...range(of.minimum, of.maximum),
    ...(of.exclusiveMinimum === undefined ? [] : [{ words: `more than ${of.exclusiveMinimum}` }]),
    ...(of.exclusiveMaximum === undefined ? [] : [{ words: `less than ${of.exclusiveMaximum}` }]),
    ...(of.multipleOf === undefined ? [] : [{ words: `a multiple of ${of.multipleOf}` }]),
    ...range(of.minItems, of.maxItems, "items"),
    ...(of.uniqueItems ? [{ words: "all different" }] : []),
    ...(pattern === undefined ? [] : [{ words: "matches", code: pattern }]),
    ...(of.default === undefined ? [] : [{ words: "default", code: JSON.stringify(of.default) }]),
    ...(example === undefined || !isTelling ? [] : [{ words: "such as", code: JSON.stringify(example) }]),
  ];
}

function range(least: number | undefined, most: number | undefined, unit = ""): readonly Rule[] {
  const words = between(least, most);
  return words === null ? [] : [{ words: `${words} ${unit}`.trim() }];
}

function between(least: number | undefined, most: number | undefined): string | null {
  if (least === undefined) return most === undefined ? null : `at most ${most}`;
  if (most === undefined) return `at least ${least}`;
  return least === most ? String(least) : `${least} to ${most}`;
}

function valuesOf({ enum: values = [], const: only }: Plain): readonly string[] {
  return [...(only === undefined ? [] : [only]), ...values].filter((value) => value !== null).map(String);
}
