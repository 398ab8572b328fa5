/** Requests for every operation of the OpenAPI document. */
import fc from "fast-check";
import type { Schema } from "../../api/reference/document.ts";
import { encoded, mutated, nastyText, nastyValue, spoiltText } from "./mutate.ts";
import { type Schemas, valuesOf } from "./schema.ts";
import { authorizations, dressed, idempotencyKeys, type Keys, type Shot } from "./shot.ts";

interface Parameter {
  readonly in?: string;
  readonly name?: string;
  readonly schema?: Schema;
}
export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
  };
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

/** By the name of the route. */
export function routeShots(document: OpenApi, keys: Keys): ReadonlyMap<string, fc.Arbitrary<Shot>> {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const verb = method.toUpperCase();
      const route = `${verb} ${path}`;
      return [route, shotsOf({ route, verb, path, operation }, document.components.schemas, keys)] as const;
    }),
  );
  return new Map(all);
}

interface Place {
  readonly route: string;
  readonly verb: string;
  readonly path: string;
  readonly operation: Operation;
}

function shotsOf({ route, verb, path, operation }: Place, schemas: Schemas, keys: Keys): fc.Arbitrary<Shot> {
  const { parameters = [], requestBody } = operation;
  const [[type = null, content] = []] = Object.entries(requestBody?.content ?? {});
  const methods = fc.oneof(
    { weight: 60, arbitrary: fc.constant(verb) },
    { weight: 1, arbitrary: fc.constantFrom("PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "POST", "GET") },
  );
  const targets = fc.tuple(pathsOf(path), queriesOf(parameters, schemas)).map(([at, query]) => at + query);
  const bodies = type === null ? strayBodies : bodiesOf(type, content?.schema ?? {}, schemas);
  const shots = fc.record({
    route: fc.constant(route),
    method: methods,
    path: targets,
    type: fc.constant(type ?? "application/json"),
    body: bodies,
  });
  return dressed(shots, authorizations(keys), idempotencyKeys).map((shot) =>
    shot.method === "GET" || shot.method === "HEAD" ? { ...shot, body: null } : shot,
  );
}

const strayBodies = fc.oneof(
  { weight: 20, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant("{}") },
  { weight: 1, arbitrary: nastyText },
);

function bodiesOf(type: string, schema: Schema, schemas: Schemas): fc.Arbitrary<string | Buffer> {
  const values = valuesOf(schema, schemas);
  const write = (value: unknown) => written(type, value);
  return fc.oneof(
    { weight: 8, arbitrary: values.map(write) },
    { weight: 8, arbitrary: mutated(values).map(write) },
    { weight: 2, arbitrary: mutated(mutated(values)).map(write) },
    { weight: 1, arbitrary: nastyValue.map(write) },
    { weight: 2, arbitrary: spoiltText(values) },
  );
}

/** A body of that type that says this value. */
export function written(type: string, value: unknown): string {
  if (type !== "application/x-www-form-urlencoded") return json(value);
  const members = Object.entries((value ?? {}) as Record<string, unknown>);
  return new URLSearchParams(
    // An object of the fuzz may say that it cannot become text.
    members.map(([name, each]): [string, string] => [name, typeof each === "string" ? each : json(each)]),
  ).toString();
}

const json = (value: unknown) => JSON.stringify(value) ?? "null";

/** The prefix of the ids that a path takes, by the word before them. */
const prefixes: Readonly<Record<string, string>> = {
  "api-keys": "key",
  customers: "cus",
  products: "prod",
  resources: "x402r",
  "payment-intents": "pi",
  payments: "pi",
  checkout: "pi",
  refunds: "re",
  "payment-links": "plink",
  invoices: "inv",
  subscriptions: "sub",
  "payout-addresses": "pad",
  payouts: "po",
  "webhook-endpoints": "whe",
  "webhook-deliveries": "whd",
  events: "evt",
  settlements: "stl",
};

const strangeIds = fc.oneof(
  fc.constantFrom(
    "pi_01K2C0Z0000000000000000000",
    "inv_00000000000000000000000000",
    "x402r_01K2C0Z0000000000000000000",
    "%00",
    "%2F..%2F",
    "%E0%A4%A",
    "..%2f..%2fv1",
    "a".repeat(3_000),
    "%F0%9F%92%B8",
    "'%20OR%201=1--",
  ),
  nastyText.map((text) => encoded(text).slice(0, 3_000)),
);

/** Ids that were told, of the right kind and of others, and what is no id. */
function idsFor(path: string): fc.Arbitrary<string> {
  const prefix = prefixes[/([\w-]+)\/\{/.exec(path)?.[1] ?? ""] ?? "any";
  return fc.oneof(
    { weight: 10, arbitrary: fc.nat(1_000_000).map((n) => `{${prefix}:${n}}`) },
    { weight: 1, arbitrary: fc.nat(1_000_000).map((n) => `{any:${n}}`) },
    { weight: 2, arbitrary: strangeIds },
  );
}

function pathsOf(path: string): fc.Arbitrary<string> {
  const filled = idsFor(path).map((id) => path.replace(/\{\w+\}/, () => id));
  const odd = fc
    .tuple(filled, fc.constantFrom("/", "//", "/.", "/%2e%2e/", ";x=1", "%00", "%", ".json", "?", "#x"))
    .map(([at, tail]) => `${at}${tail}`);
  return fc.oneof({ weight: 40, arbitrary: filled }, { weight: 1, arbitrary: odd });
}

function queriesOf(parameters: readonly Parameter[], schemas: Schemas): fc.Arbitrary<string> {
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  if (inQuery.length === 0)
    return fc.oneof({ weight: 30, arbitrary: fc.constant("") }, { weight: 1, arbitrary: strayQuery });
  const pairs = inQuery.map(({ name = "", schema = {} }) => {
    const good = valuesOf(schema, schemas, name).map((value) => String(value));
    const one = fc.oneof({ weight: 3, arbitrary: good }, { weight: 1, arbitrary: nastyText });
    return fc.option(
      one.map((value) => `${name}=${encoded(value).slice(0, 2_000)}`),
      {
        freq: 2,
      },
    );
  });
  return fc.tuple(...pairs, fc.boolean()).map((parts) => {
    const told = parts.filter((part): part is string => typeof part === "string");
    const isTwice = parts.at(-1) === true && told.length > 3;
    return told.length === 0 ? "" : `?${[...told, ...(isTwice ? told.slice(0, 1) : [])].join("&")}`;
  });
}

const strayQuery = nastyText.map((text) => `?x=${encoded(text).slice(0, 1_000)}`);
