/** The interface as a contract, against the OpenAPI document: every endpoint that is served, with its key, its
 *  idempotency and every field of its answer. */
import { beforeAll, describe, expect, it } from "vitest";
import { world } from "../api/world.ts";
import { type Schema, type Schemas, schemaProblems } from "./interface/check.ts";
import { type Endpoint, missing, served } from "./interface/endpoints.ts";

interface Parameter {
  readonly name?: string;
  readonly $ref?: string;
  readonly required?: boolean;
}
interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

let document: Document;
beforeAll(async () => {
  document = (await (await world().app.request("/openapi.json")).json()) as Document;
});
const operationOf = ({ method, path }: Pick<Endpoint, "method" | "path">) => document.paths[path]?.[method];
const securityOf = ({ security = [] }: Operation) => security.flatMap((each) => Object.keys(each)).sort();

describe.each(served)("$method $path", (endpoint) => {
  it("is served", () => {
    expect(operationOf(endpoint)).toBeDefined();
  });

  it(`asks for ${endpoint.auth === "keyless" ? "no key" : `a ${endpoint.auth} key`}`, () => {
    const operation = operationOf(endpoint);
    const wanted = { keyless: [], secret: ["secretKey"], publishable: ["publishableKey", "secretKey"] };
    expect(operation && securityOf(operation)).toEqual(wanted[endpoint.auth]);
  });

  it(`${endpoint.idem ? "requires" : "does not require"} an Idempotency-Key`, () => {
    const header = operationOf(endpoint)?.parameters?.find(
      ({ name }) => name?.toLowerCase() === "idempotency-key",
    );
    expect(header?.required ?? false).toBe(endpoint.idem);
  });

  if (endpoint.answers) {
    const { status, shape, isList } = endpoint.answers;
    it(`answers ${status} with every field of the interface`, () => {
      const schema = operationOf(endpoint)?.responses[status]?.content?.["application/json"]?.schema;
      const item = isList ? schema?.items : schema;
      expect(item && schemaProblems(document.components.schemas, item, shape)).toEqual([]);
    });
  }
});

it("names what is not served yet, and nothing that is", () => {
  const known = new Set(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  expect(missing.filter((name) => known.has(name))).toEqual([]);
});
