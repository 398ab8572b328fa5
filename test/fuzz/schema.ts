/** Values that a JSON schema of our OpenAPI document allows, made at random. */
import fc from "fast-check";
import type { Schema } from "../../api/reference/document.ts";

export type Schemas = Readonly<Record<string, Schema>>;

/** What members of these names mean, where a schema says only that they are text. */
const meanings: Readonly<Record<string, readonly string[]>> = {
  asset: ["USD", "USDC", "EUR", "EURC", "USDG"],
  currency: ["USD", "EUR"],
  chain: ["local", "eip155:31337"],
  network: ["eip155:31337"],
  url: ["http://127.0.0.1:1/thing", "http://127.0.0.1:1/a?b=c"],
  returnUrl: ["http://127.0.0.1:1/back"],
  iconUrl: ["http://127.0.0.1:1/icon.png"],
  email: ["ada@example.com", "bob@example.com"],
  countryCode: ["PT", "DE", "US"],
  scheme: ["exact"],
  timezone: ["Europe/Lisbon", "UTC"],
  sku: ["tea", "cup", "pot", "tray"],
  address: [`0x${"5e".repeat(20)}`, `0x${"5f".repeat(20)}`],
};
/** Members that hold the id of something, by the prefix of such ids. The id of one that is there is filled in later. */
const references: Readonly<Record<string, string>> = {
  productId: "prod",
  customerId: "cus",
  paymentId: "pi",
  payoutAddressId: "pad",
  destination: "pad",
  subscriptionId: "sub",
  invoiceId: "inv",
  eventId: "evt",
};
const dates = ["2026-08-11", "2026-08-11T09:30:00.000Z", "2027-01-31T00:00:00+02:00"];
const deepest = 6;

export function valuesOf(schema: Schema, all: Schemas, name = "", depth = 0): fc.Arbitrary<unknown> {
  if (depth > deepest) return fc.constant({});
  const within = (inner: Schema, as = name) => valuesOf(inner, all, as, depth + 1);
  if (schema.$ref) return within(all[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => within(choice)));
  if (schema.allOf) return within(merged(schema.allOf, all));
  const types = [schema.type ?? []].flat();
  const alternatives = types.map((type) => ofType({ ...schema, type }, name, within));
  return alternatives.length === 0 ? fc.jsonValue({ maxDepth: 2 }) : fc.oneof(...alternatives);
}

function merged(parts: readonly Schema[], all: Schemas): Schema {
  const known = parts.map(({ $ref, ...rest }) => ($ref ? (all[$ref.split("/").at(-1) ?? ""] ?? {}) : rest));
  return Object.assign({}, ...known) as Schema;
}

function ofType(
  schema: Schema & { readonly type: string },
  name: string,
  within: (inner: Schema, as?: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const { minimum, maximum, minItems = 0, maxItems = 4 } = schema;
  switch (schema.type) {
    case "object":
      return object(schema, within);
    case "array":
      return fc.array(within(schema.items ?? {}), { minLength: minItems, maxLength: Math.min(maxItems, 4) });
    case "integer":
      return fc.integer({ min: minimum ?? -1_000, max: maximum ?? 100_000 });
    case "number":
      return fc.double({ min: minimum ?? -1e6, max: maximum ?? 1e6, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return text(schema, name);
  }
}

function object(
  { properties = {}, required = [], additionalProperties }: Schema,
  within: (inner: Schema, as?: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([key, inner]) => [key, within(inner, key)] as const);
  if (members.length > 0) return someOf(Object.fromEntries(members), required);
  if (!additionalProperties) return fc.constant({});
  const inner = additionalProperties === true ? {} : additionalProperties;
  return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), within(inner), { maxKeys: 3 });
}

/** What is required and at most two members more: one of many that is wrong would hide the others. */
function someOf(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  required: readonly string[],
): fc.Arbitrary<unknown> {
  const optional = Object.keys(members).filter((key) => !required.includes(key));
  return fc
    .tuple(fc.record(members), fc.subarray(optional, { maxLength: Math.min(2, optional.length) }))
    .map(([all, more]) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => required.includes(key) || more.includes(key))),
    );
}

function text(schema: Schema, name: string): fc.Arbitrary<string> {
  const { pattern, format, example, minLength = 0, maxLength = 40 } = schema;
  const meaning = meanings[name];
  if (meaning) return fc.constantFrom(...meaning);
  const prefix = references[name];
  if (prefix) return fc.nat(1_000).map((n) => `{${prefix}:${n}}`);
  if (format === "date" || format === "date-time") return fc.constantFrom(...dates);
  if (typeof example === "string") return fc.constant(example);
  if (pattern) return fc.stringMatching(new RegExp(pattern, pattern.includes("\\p{") ? "u" : ""));
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(Math.max(minLength, 40), maxLength) });
}
