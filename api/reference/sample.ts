/** Examples that keep to their schema: what the document gives, and where it gives nothing the least that fits. */
import { type Document, type Example, follow, type Media, type Schema } from "./document.ts";
import { choicesOf, mayBeNull, type Plain, plain, typesOf } from "./schema.ts";

/** Stands where a caller has something of their own to say. */
const GAP = "…";

/** `least` has what is required and no more, `whole` every member. */
export type Extent = "least" | "whole";

/** An example of a body. */
export function sampleOf(document: Document, { example, examples, schema }: Media, extent: Extent): unknown {
  if (example !== undefined) return example;
  const [first] = Object.values(examples ?? {});
  if (first) return follow<Example>(document, first).value;
  return schema && sample(document, schema, extent);
}

export function sample(
  document: Document,
  schema: Schema,
  extent: Extent,
  around: readonly string[] = [],
): unknown {
  const of = plain(document, schema);
  const given = givenBy(of);
  if (given !== undefined) return given;
  if (of.made.some((name) => around.includes(name))) return null;
  const within = [...around, ...of.made];
  const [choice] = choicesOf(of);
  if (choice && !of.properties) return sample(document, choice, extent, within);
  const [type] = typesOf(of);
  if (type === "object") return members(document, of, extent, within);
  if (type === "array") return of.items ? [sample(document, of.items, extent, within)] : [];
  return extent === "whole" && mayBeNull(of) ? null : scalar(type, of);
}

function givenBy({
  example,
  examples = [],
  default: fallback,
  const: only,
  enum: values = [],
}: Plain): unknown {
  return [example, examples[0], fallback, only, values[0]].find((value) => value !== undefined);
}

/** Of an object that asks for nothing in particular, such as a change, one member shows how it is written. */
function members(document: Document, of: Plain, extent: Extent, around: readonly string[]): object {
  const { properties = {}, required = [] } = of;
  const names = Object.keys(properties);
  const least = required.length > 0 ? required : names.slice(0, 1);
  const shown = extent === "whole" ? names : names.filter((name) => least.includes(name));
  return Object.fromEntries(
    shown.map((name) => [name, sample(document, properties[name] ?? {}, extent, around)]),
  );
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-08-11T09:30:00.000Z",
  date: "2026-08-11",
  email: "ada@example.com",
  uri: "https://shop.example",
};

function scalar(
  type: string | undefined,
  { format = "", minimum = 1, maximum = minimum, minLength = 1 }: Plain,
) {
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.min(Math.max(1, minimum), maximum);
  return formats[format] ?? GAP.repeat(Math.max(1, minLength));
}
