import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { permissions } from "../../api/http/permissions.ts";
import { stillSandbox, world } from "./world.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly {
    readonly name?: string;
    readonly required?: boolean;
    readonly $ref?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
  readonly responses: Readonly<Record<string, Response>>;
  readonly "x-permission"?: string;
}
interface Response {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema?: object; readonly examples?: object }>>;
}
interface Document {
  readonly openapi: string;
  readonly info: object;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: object;
    readonly securitySchemes: object;
    readonly examples: Readonly<Record<string, { readonly value: Record<string, unknown> }>>;
  };
}

const require = createRequire(import.meta.url);

/** Documents and pages that are no operations of the API. */
const pages =
  /^\/(?:|assets\/.*|dashboard(?:\/.*)?|openapi\.json|docs(?:\/.*)?|llms\.txt|\.well-known\/.*|x402\/mcp.*)$/;

const { app } = world({ sandbox: stillSandbox });
let document: Document;
let operations: readonly (readonly [name: string, path: string, operation: Operation])[];
beforeAll(async () => {
  document = (await (await app.request("/openapi.json")).json()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, path, operation] as const,
    ),
  );
});
const merchantRoutes = () => operations.filter(([, path]) => path.startsWith("/v1/"));
/** The codes that an operation documents, by status. */
const codesOf = ({ responses }: Operation) =>
  Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.["application/problem+json"]?.examples ?? {}),
  );

describe("GET /openapi.json", () => {
  it("describes every route that the app answers, and no other", () => {
    expect(document.openapi).toBe("3.1.0");
    const served = app.routes
      .filter(({ method, path }) => method !== "ALL" && !pages.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(operations.map(([name]) => name).sort()).toEqual([...new Set(served)].sort());
  });

  it("says what indexers look for: how to buy here, and where to turn", () => {
    expect(document.info).toMatchObject({
      "x-guidance": expect.any(String),
      contact: { url: "https://pay.example/docs" },
    });
  });

  it("knows the sandbox's routes on a sandbox only", async () => {
    const ofSandbox = operations.map(([, path]) => path).filter((path) => path.startsWith("/v1/test/"));
    const elsewhere = (await (await world().app.request("/openapi.json")).json()) as Document;
    expect(ofSandbox.length).toBeGreaterThan(0);
    expect(Object.keys(elsewhere.paths)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^\/v1\/test\//)]),
    );
  });

  it("names, tags and summarises each, once", () => {
    const names = operations.map(([, , { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
    const known = document.tags.map(({ name }) => name);
    for (const [name, , { tags, summary }] of operations) {
      expect([name, tags.length, typeof summary]).toEqual([name, 1, "string"]);
      expect([name, known]).toEqual([name, expect.arrayContaining([...tags])]);
    }
    const used = new Set(operations.flatMap(([, , { tags }]) => tags));
    expect(known.filter((tag) => !used.has(tag))).toEqual([]);
  });

  it("says of each who may call it; what is free is marked, so that nobody probes it as if it were for sale", () => {
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual(["publishableKey", "secretKey"]);
    const kinds = new Set(["[]", '[{"secretKey":[]}]', '[{"publishableKey":[]},{"secretKey":[]}]']);
    for (const [name, path, operation] of operations) {
      const security = JSON.stringify(operation.security);
      expect([name, kinds.has(security)]).toEqual([name, true]);
      if (!path.startsWith("/v1/")) expect([name, security]).toEqual([name, "[]"]);
      const isSecret = security === '[{"secretKey":[]}]';
      expect([name, operation["x-permission"] !== undefined]).toEqual([name, isSecret]);
      if (isSecret) expect(permissions).toContain(operation["x-permission"]);
    }
  });

  it("documents the refusals that every route of a kind has", () => {
    for (const [name, , operation] of merchantRoutes()) {
      const codes = codesOf(operation);
      const expected = ["validation_failed", "rate_limited", "internal_error", "unavailable"];
      if (operation.security.length > 0)
        expected.push("unauthenticated", "invalid_service_version", "not_acceptable");
      if (operation["x-permission"])
        expected.push("permission_denied", "secret_key_required", "secret_key_in_browser");
      // Of what takes no body, too: it refuses one.
      const isJson = operation.requestBody?.content["application/json"] ?? !operation.requestBody;
      if (isJson && !name.startsWith("GET "))
        expected.push("invalid_json", "body_too_large", "unsupported_media_type");
      const key = operation.parameters?.find((parameter) => parameter.name === "idempotency-key");
      if (key) expected.push("idempotency_key_invalid");
      if (key?.required) expected.push("idempotency_key_required");
      expect([name, expected.filter((code) => !codes.includes(code))]).toEqual([name, []]);
    }
  });

  it("has an example of every code, at the status it has", async () => {
    for (const [name, , { responses }] of operations)
      for (const [status, { content }] of Object.entries(responses))
        for (const code of Object.keys(content?.["application/problem+json"]?.examples ?? {})) {
          const example = document.components.examples[code]?.value;
          expect([name, code, String(example?.status)]).toEqual([name, code, status]);
        }
  });

  it("gives routes under /v1 the version header and the answers their common headers", () => {
    for (const [name, , { parameters, responses }] of merchantRoutes()) {
      expect([name, parameters?.map(({ $ref }) => $ref)]).toEqual([
        name,
        expect.arrayContaining(["#/components/parameters/ServiceVersion"]),
      ]);
      const isPaged = parameters?.some((parameter) => parameter.name === "cursor") ?? false;
      const headers = Object.keys(responses["200"]?.headers ?? {});
      if (isPaged) expect([name, headers]).toEqual([name, expect.arrayContaining(["Next-Cursor", "Link"])]);
    }
  });

  it("has patterns that any reader of JSON Schema can use: none brings the flags of an expression along", () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text]) => JSON.parse(text ?? ""),
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((pattern) => !pattern.startsWith("^") || !pattern.endsWith("$"))).toEqual([]);
  });

  it("says in which media type settle refuses: what nobody can say and a key used twice are problem details", () => {
    for (const base of ["/x402", "/x402/resources/{id}"]) {
      const [, , settle] = operations.find(([name]) => name === `POST ${base}/settle`) ?? [];
      const typesOf = (status: number) => Object.keys(settle?.responses[status]?.content ?? {});
      expect(typesOf(200)).toEqual(["application/json"]);
      expect(typesOf(409)).toEqual(["application/json", "application/problem+json"]);
      for (const status of [400, 404, 413, 415, 429, 503])
        expect(typesOf(status)).toEqual(["application/problem+json"]);
    }
  });

  it("names the shared shapes, so that a client has one type for each", () => {
    for (const name of ["Money", "MoneyInput", "Problem", "ApiKey", "Merchant", "Resource"])
      expect(Object.keys(document.components.schemas)).toContain(name);
  });
});

describe("the name of a shape", () => {
  // Of two that have one, the document keeps the first and says of the other's places what is not so.
  it("is that of no other", async () => {
    const api = new URL("../../api/", import.meta.url);
    const files = (await readdir(api, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
    const sources = await Promise.all(files.map((file) => readFile(new URL(file, api), "utf8")));
    const names = sources.flatMap((source) =>
      [...source.matchAll(/\.openapi\(\s*"(\w+)"/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(80);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it("stands for what is answered: a rail of an offer has its payee and domain, one of the service how long it takes", () => {
    const { schemas } = document.components;
    expect(schemas).toMatchObject({
      OfferedRail: { properties: { payTo: {}, transferMethod: {}, domain: {} } },
      Rail: { properties: { estimatedSeconds: {} } },
    });
    const rails = { items: { $ref: "#/components/schemas/OfferedRail" } };
    expect(schemas).toMatchObject({
      PaymentRequiredLookup: { allOf: [{}, { properties: { rails } }] },
      DiscoveryItem: { properties: { rails } },
      PayableItem: { properties: { rails } },
    });
  });
});

describe("a shape that may be null", () => {
  it("is that or null: a shape that were both at once would be nothing", () => {
    const money = { $ref: "#/components/schemas/Money" };
    expect(document.components.schemas).toMatchObject({
      PaymentLink: {
        properties: {
          amount: {
            anyOf: [money, { type: "null" }],
            description: expect.stringContaining("null for an open link"),
          },
          minAmount: { anyOf: [money, { type: "null" }] },
        },
      },
      PaymentSummary: { properties: { amountRefunded: { anyOf: [money, { type: "null" }] } } },
    });
    const both = /"allOf":\[\{"\$ref":"[^"]+"\},\{"type":\["\w+","null"\]/;
    expect(JSON.stringify(document).match(both)).toBeNull();
  });
});

describe("a public linter", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "farebox-openapi-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("finds no errors in the document", async () => {
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(document));
    const { problems } = await lint(folder, file);
    const told = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`,
    );
    expect(told).toEqual([]);
  }, 60_000);

  it("finds what is wrong: an operation without security, a reference to nothing", async () => {
    const file = join(folder, "broken.json");
    const { paths } = document;
    const broken = structuredClone({ ...document, paths: { "/v1/merchant": paths["/v1/merchant"] ?? {} } });
    const read = broken.paths["/v1/merchant"].get as unknown as Record<string, unknown>;
    delete read.security;
    read.responses = {
      200: { description: "x", content: { "application/json": { schema: { $ref: "#/nowhere" } } } },
    };
    await writeFile(file, JSON.stringify(broken));
    const { problems } = await lint(folder, file);
    expect(problems.map(({ ruleId }) => ruleId)).toEqual(
      expect.arrayContaining(["security-defined", "no-unresolved-refs"]),
    );
  }, 60_000);
});

interface Finding {
  readonly ruleId: string;
  readonly severity: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

/** Errors only: warnings are matters of taste. */
async function lint(cwd: string, file: string): Promise<{ readonly problems: readonly Finding[] }> {
  const manifest = require.resolve("@redocly/cli/package.json");
  const cli = join(manifest, "../bin/cli.js");
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const args = [cli, "lint", "--format=json", "--extends=recommended", "--max-problems=1000", file];
  const told = await promisify(execFile)(process.execPath, args, { cwd, env, maxBuffer: 1 << 26 }).catch(
    (failed: { readonly stdout?: string }) => ({ stdout: failed.stdout ?? "" }),
  );
  const { problems } = JSON.parse(told.stdout) as { problems: Finding[] };
  return { problems: problems.filter(({ severity }) => severity === "error") };
}
