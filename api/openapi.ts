import type { OpenAPIHono } from "@hono/zod-openapi";
import { publicFaults } from "./http/faults.ts";
import { answerKept, type Kept, keep } from "./http/kept.ts";
import { exampleProblem } from "./http/route.ts";
import { JSON_TYPE } from "./http/strict-json.ts";

type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;
type PathItem = NonNullable<Document["paths"]>[string];
type Operation = NonNullable<PathItem["get"]>;

const guidance =
  "Find a resource with GET /x402/resources, read its price with GET /x402/resources/{id}/payment-required, call the " +
  "resource's own URL with an x402 client, and ask GET /x402/settlements/{id} where a payment stands. A pending " +
  "payment is not a failed one: repeat the identical request, never sign again.";

const description = `An x402 facilitator with its own books, and a merchant payments API on top of them.

Requests under \`/v1\` carry a key as \`Authorization: Bearer\`. Amounts are decimal strings in major units. Writes marked
so take an \`Idempotency-Key\`: keep it when you repeat a request, and it is done once. \`Service-Version\` pins a date
revision. Lists are paged by the headers \`Link\` and \`Next-Cursor\`. Refusals are problem details, and their \`code\` is the
contract; \`GET /errors/{code}\` explains each.`;

/** What the tags of routes mean, in the order in which the reference shows them. */
const tags = {
  "API keys": "Keys of a merchant: what they may do, from where, and until when.",
  merchant: "The merchant's data and settings.",
  customers: "Who buys from a merchant.",
  rates: "Currencies, rails and indicative quotes.",
  catalog: "What a merchant sells, and for how much.",
  carts: "What a buyer picked: priced, and made a payment intent.",
  "payment links": "Standing offers that are paid by whoever holds their URL.",
  "payment intents": "Requests to be paid: made, confirmed, cancelled.",
  payments: "Where the money of an intent stands, and what to do about it.",
  "x402 resources": "Endpoints that a merchant sells to agents.",
  invoices: "Bills with numbers that follow one another: issued, sent, paid on any rail, taken back.",
  subscriptions: "Bills that repeat, one invoice for each cycle.",
  refunds: "Money of a payment that goes back to who paid.",
  documents: "What is printed of payments, and what proves them.",
  "balances and ledger": "What a merchant holds, and how it came about.",
  payouts: "Money to a merchant's own addresses.",
  webhooks: "Where a merchant wants to be told what happens, and what was sent there.",
  events: "Everything a merchant was told, for 90 days.",
  "provider callbacks": "Where outside providers tell that something changed; signed, not keyed.",
  sandbox: "What a sandbox deployment can be made to live through; not found elsewhere.",
  x402: "Keyless: prices, verification, settlement and discovery for agents and their servers.",
  "hosted pages": "Where a person pays; keyless, for whoever holds the id.",
  service: "Health, and what error codes mean.",
} as const;

const schemes = {
  secretKey: "A secret key, sk_…; for servers only",
  publishableKey: "A publishable key, pk_…; for pages of its allowed origins",
};

const versionParameter = {
  name: "Service-Version",
  in: "header" as const,
  required: false,
  description: "A date revision to be served in; the current one when left out",
  schema: { type: "string" as const, format: "date" },
  example: "2026-08-11",
};

const text = (about: string) => ({ description: about, schema: { type: "string" as const } });
/** Headers of answers under `/v1`. */
const headers = {
  "Request-Id": text("Our name of the request; quote it when you ask about it"),
  "Service-Version": text("The revision that was served"),
  "RateLimit-Policy": text("What is counted, and how much of it a second"),
  RateLimit: text("How much is left of it"),
  "Next-Cursor": text("Cursor of the next page, where there is one"),
  Link: text('Address of the next page, with rel="next"'),
};
const always = ["Request-Id", "Service-Version", "RateLimit-Policy", "RateLimit"] as const;
const ofLists = ["Next-Cursor", "Link"] as const;

/** `GET /openapi.json`, made from the schemas that validate; returns who gives the same text to other rooms. */
export function addDocument(
  app: OpenAPIHono,
  { baseUrl, version }: { readonly baseUrl: string; readonly version: string },
): () => string {
  registerComponents(app);
  let json: string | undefined;
  const read = () => {
    json ??= JSON.stringify(complete(documentOf(app, { baseUrl, version })));
    return json;
  };
  let kept: Promise<Kept> | undefined;
  app.get("/openapi.json", async (c) => {
    kept ??= keep(read());
    return answerKept(c, await kept, JSON_TYPE);
  });
  return read;
}

function registerComponents({ openAPIRegistry }: OpenAPIHono): void {
  for (const [name, about] of Object.entries(schemes))
    openAPIRegistry.registerComponent("securitySchemes", name, {
      type: "http",
      scheme: "bearer",
      description: about,
    });
  for (const code of Object.keys(publicFaults))
    openAPIRegistry.registerComponent("examples", code, { value: exampleProblem(code) });
  openAPIRegistry.registerComponent("parameters", "ServiceVersion", versionParameter);
  for (const [name, header] of Object.entries(headers))
    openAPIRegistry.registerComponent("headers", name, header);
}

function documentOf(
  app: OpenAPIHono,
  { baseUrl, version }: { readonly baseUrl: string; readonly version: string },
): Document {
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Farebox",
      version,
      description,
      // Indexers want one; a deployment has no person to name, but pages that tell all of it.
      contact: { url: `${baseUrl}/docs` },
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      "x-guidance": guidance,
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
  });
}

/** Adds what all operations have, so that no route repeats it: a name, and under `/v1` the version and the headers. */
function complete(document: Document): Document {
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const method of ["get", "post", "patch", "delete"] as const) {
      const operation = item[method];
      if (!operation) continue;
      operation.operationId ??= operationName(method, path);
      if (path.startsWith("/v1/")) addManners(operation);
    }
  tellNull(document);
  return document;
}

interface Both {
  allOf?: readonly [{ readonly $ref?: string }, { readonly type?: unknown }];
  anyOf?: readonly object[];
}

/** A shape with a name that may be null is written as that shape and null at once, which nothing is: it is one of the two. */
function tellNull(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  Object.values(node).forEach(tellNull);
  const { allOf: [named, { type, ...rest } = {}] = [{}] } = node as Both;
  if (!named.$ref || !Array.isArray(type) || !type.includes("null")) return;
  delete (node as Both).allOf;
  Object.assign(node, { anyOf: [named, { type: "null" }], ...rest });
}

/** `postV1ApiKeysByIdRotate` for `POST /v1/api-keys/{id}/rotate`. */
function operationName(method: string, path: string): string {
  const words = path
    .replace(/^\/v1\//, "/")
    .replace(/\{(\w+)\}/g, "by-$1")
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  const prefix = path.startsWith("/v1/") ? "V1" : "";
  return method + prefix + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function addManners(operation: Operation): void {
  const parameters = operation.parameters ?? [];
  const isPaged = parameters.some((parameter) => "name" in parameter && parameter.name === "cursor");
  operation.parameters = [...parameters, { $ref: "#/components/parameters/ServiceVersion" }];
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const names = isPaged && status.startsWith("2") ? [...always, ...ofLists] : always;
    const shared = names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
    response.headers = { ...Object.fromEntries(shared), ...response.headers };
  }
}
