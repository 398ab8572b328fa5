/** The calls that the reference shows, read by a shell: each goes to its operation and is one that the schemas take. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, it } from "vitest";
import { type Call, chaptersOf } from "../../../api/reference/chapters.ts";
import { curlOf } from "../../../api/reference/curl.ts";
import { type Document, parametersOf, type Schema } from "../../../api/reference/document.ts";
import { plain } from "../../../api/reference/schema.ts";
import { v1Networks } from "../../../api/x402/v1.ts";
import { readPayment } from "../../../api/x402/wire.ts";
import { readPayload } from "../../../facilitator/scheme/exact-evm/schema.ts";
import { stillSandbox, world } from "../world.ts";

/** Arguments of a call, as `curl` would be handed them. */
interface Typed {
  readonly call: Call;
  readonly words: readonly string[];
}

let document: Document;
let typed: readonly Typed[];
beforeAll(async () => {
  const { app } = world({ sandbox: stillSandbox });
  document = (await (await app.request("/openapi.json")).json()) as Document;
  const calls = chaptersOf(document).flatMap(({ calls }) => calls);
  const printed = await inShell(calls.map((call) => curlOf(document, call)));
  typed = calls.map((call, i) => ({ call, words: printed[i] ?? [] }));
});

/** Runs them all with a `curl` that tells its arguments and does nothing. */
async function inShell(commands: readonly string[]): Promise<readonly (readonly string[])[]> {
  const curl = `curl() { printf '%s\\1' "$@"; printf '\\2'; }; SECRET_KEY=sk; PUBLISHABLE_KEY=pk`;
  const { stdout } = await promisify(execFile)("sh", ["-euc", [curl, ...commands].join("\n")]);
  return stdout.split("\u0002").map((told) => told.split("\u0001").slice(0, -1));
}

const behind = (words: readonly string[], flag: string) => words.filter((_, i) => words[i - 1] === flag);
const addressIn = (words: readonly string[]) =>
  new URL(words.find((word) => word.startsWith("https://")) ?? "");

/** As zod reads it: references followed, since they are relative to a document that it does not have. */
function whole(schema: Schema): Schema {
  const { name: _name, made: _made, ...of } = plain(document, schema);
  const { properties, items, additionalProperties: rest } = of;
  const members = Object.entries(properties ?? {}).map(([key, member]) => [key, whole(member)] as const);
  return {
    ...of,
    ...(properties && { properties: Object.fromEntries(members) }),
    ...(items && { items: whole(items) }),
    ...(typeof rest === "object" && { additionalProperties: whole(rest) }),
  };
}

describe("a call in the reference", () => {
  it("goes to its operation, with its method", () => {
    expect(typed.length).toBeGreaterThan(100);
    for (const { call, words } of typed) {
      const template = call.path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/{}]+");
      const { origin, pathname } = addressIn(words);
      expect([call.anchor, origin]).toEqual([call.anchor, "https://pay.example"]);
      expect([call.anchor, pathname]).toEqual([
        call.anchor,
        expect.stringMatching(new RegExp(`^${template}$`)),
      ]);
      expect([call.anchor, behind(words, "-X")[0] ?? "GET"]).toEqual([call.anchor, call.method]);
    }
  });

  it("has the key that is asked for, and every header and query that must be there", () => {
    for (const { call, words } of typed) {
      const headers = behind(words, "-H");
      const [scheme] = Object.keys(call.operation.security?.[0] ?? {});
      const key = { secretKey: "sk", publishableKey: "pk" }[scheme ?? ""];
      const keys = headers.filter((header) => header.startsWith("Authorization: "));
      expect([call.anchor, keys]).toEqual([call.anchor, key ? [`Authorization: Bearer ${key}`] : []]);
      for (const { name, required, in: place } of parametersOf(document, call.operation)) {
        if (!required) continue;
        if (place === "header")
          expect([call.anchor, headers.join()]).toEqual([call.anchor, expect.stringContaining(`${name}: `)]);
        if (place === "query")
          expect([call.anchor, addressIn(words).searchParams.has(name)]).toEqual([call.anchor, true]);
      }
    }
    const withKey = typed.filter(({ words }) => words.some((word) => word.startsWith("Idempotency-Key: ")));
    expect(withKey.length).toBeGreaterThan(10);
  });

  it("has a body that keeps to its schema", () => {
    const bodies = typed.filter(({ call }) => call.operation.requestBody?.content["application/json"]);
    expect(bodies.length).toBeGreaterThan(30);
    const wrong = bodies.flatMap(({ call, words }) => {
      const schema = call.operation.requestBody?.content["application/json"]?.schema ?? {};
      const read = z.fromJSONSchema(whole(schema) as Parameters<typeof z.fromJSONSchema>[0]);
      const { error } = read.safeParse(JSON.parse(behind(words, "-d")[0] ?? ""));
      return (error?.issues ?? []).map(({ path, message }) => `${call.anchor} ${path.join(".")} ${message}`);
    });
    expect(wrong).toEqual([]);
  });

  it("of verify and settle holds a payment as it is read: version 2, of a resource, with what its payer signs", () => {
    const paying = typed.filter(({ call }) => /^[/]x402[/].*(?:verify|settle)$/.test(call.path));
    expect(paying).toHaveLength(4);
    for (const { words } of paying) {
      const body = JSON.parse(behind(words, "-d")[0] ?? "");
      const reading = readPayment(body, v1Networks([]));
      if (!reading.ok) throw new Error(reading.refusal.message);
      const { version, resourceUrl, selection, accepted, payload } = reading.payment;
      expect([version, resourceUrl]).toEqual([2, "https://api.example.com/weather"]);
      expect(accepted).toEqual(selection);
      expect(readPayload(payload)).toMatchObject({ value: BigInt(selection.amount) });
    }
  });

  it("of an invoice and of a payout address asks for nothing that has to be made or looked up before", () => {
    const bodyOf = (path: string) => {
      const call = typed.find((each) => each.call.path === path && each.call.method === "POST");
      return JSON.parse(behind(call?.words ?? [], "-d")[0] ?? "");
    };
    const [line] = bodyOf("/v1/invoices").lines;
    expect(Object.keys(line).sort()).toEqual(["name", "quantity", "unitPrice"]);
    expect(bodyOf("/v1/payout-addresses").chain).toBe("base");
  });
});

describe("a value with a quote in it", () => {
  it("reaches curl as it is", async () => {
    const name = `O'Neill "&" $HOME \`id\` \\n`;
    const call: Call = {
      ...{ anchor: "x", title: "x", method: "POST", path: "/v1/x" },
      operation: {
        operationId: "x",
        requestBody: { content: { "application/json": { example: { name } } } },
        responses: {},
      },
    };
    const [words] = await inShell([curlOf(document, call)]);
    expect(JSON.parse(behind(words ?? [], "-d")[0] ?? "")).toEqual({ name });
  });
});
