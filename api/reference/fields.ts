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
  const { pattern, multipleOf, uniqueItems, exclusiveMinimum, exclusiveMaximum } = of;
  const from = (bound: number | undefined, words: string): Rule[] =>
    bound === undefined ? [] : [{ words: `${words} ${bound}` }];
  return [
    ...range(of.minLength, of.maxLength, "characters"),
    ...range(of.minimum, of.maximum, ""),
    ...from(exclusiveMinimum, "more than"),
    ...from(exclusiveMaximum, "less than"),
    ...from(multipleOf, "a multiple of"),
    ...range(of.minItems, of.maxItems, "items"),
    ...(uniqueItems ? [{ words: "all different" }] : []),
    ...(pattern === undefined ? [] : [{ words: "matches", code: pattern }]),
    ...(of.default === undefined ? [] : [{ words: "default", code: JSON.stringify(of.default) }]),
    ...(of.example === undefined || typeof of.example === "object"
      ? []
      : [{ words: "such as", code: JSON.stringify(of.example) }]),
  ];
}

function range(least: number | undefined, most: number | undefined, unit: string): readonly Rule[] {
  const words =
    least === undefined
      ? `at most ${most}`
      : most === undefined
        ? `at least ${least}`
        : least === most
          ? `${least}`
          : `${least} to ${most}`;
  return least === undefined && most === undefined ? [] : [{ words: `${words} ${unit}`.trim() }];
}

function valuesOf({ enum: values = [], const: only }: Plain): readonly string[] {
  return [...(only === undefined ? [] : [only]), ...values].filter((value) => value !== null).map(String);
}
