/** Requests for every tool and method of the MCP endpoint, of both eras. */
import fc from "fast-check";
import type { Schema } from "../../api/reference/document.ts";
import { mutated, nastyValue, spoiltText } from "./mutate.ts";
import { valuesOf } from "./schema.ts";
import { authorizations, dressed, type Keys, type Shot } from "./shot.ts";

export interface Tool {
  readonly name: string;
  readonly inputSchema: Schema;
}

const methods = [
  "initialize",
  "notifications/initialized",
  "ping",
  "tools/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "server/discover",
  "no/such",
] as const;

/** A tool's text that names a thing may name one that is there. */
const named = (args: unknown, n: number): unknown => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const members = args as Readonly<Record<string, unknown>>;
  return "id" in members ? { ...members, id: `{any:${n}}` } : args;
};

/** By the name that the report gives them. */
export function agentShots(tools: readonly Tool[], keys: Keys): ReadonlyMap<string, fc.Arbitrary<Shot>> {
  const calls = tools.map(({ name, inputSchema }) => {
    const args = fc.tuple(valuesOf(inputSchema, {}), fc.nat(1_000_000)).map(([good, n]) => named(good, n));
    const params = fc.record({ name: fc.constant(name), arguments: args });
    return [`MCP tools/call ${name}`, messages("tools/call", params)] as const;
  });
  const others = methods.map((method) => {
    const params = fc.oneof(
      fc.constant({
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "f", version: "1" },
      }),
      fc.constant({ uri: "farebox://x", name: "pay", arguments: {} }),
      nastyValue,
    );
    return [`MCP ${method}`, messages(method, params)] as const;
  });
  const dress = ([route, bodies]: readonly [string, fc.Arbitrary<string | Buffer>]) => {
    const shots = fc.record({
      route: fc.constant(route),
      method: fc.constantFrom(...Array<string>(40).fill("POST"), "GET", "DELETE", "OPTIONS"),
      path: fc.constant("/x402/mcp"),
      type: fc.constant("application/json"),
      body: bodies,
    });
    const eras = fc.constantFrom<readonly string[]>(
      [],
      ["accept", "application/json, text/event-stream"],
      ["mcp-protocol-version", "2026-07-28", "mcp-method", route.split(" ")[1] ?? ""],
      ["mcp-protocol-version", "1999-01-01"],
    );
    const dressedShots = dressed(shots, authorizations(keys), eras).map((shot) =>
      shot.method === "GET" ? { ...shot, body: null } : shot,
    );
    return [route, dressedShots] as const;
  };
  return new Map([...calls, ...others].map(dress));
}

function messages(method: string, params: fc.Arbitrary<unknown>): fc.Arbitrary<string | Buffer> {
  const good = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.oneof(fc.nat(), fc.string({ maxLength: 8 })),
    method: fc.constant(method),
    params,
  });
  const write = (value: unknown) => JSON.stringify(value) ?? "null";
  return fc.oneof(
    { weight: 6, arbitrary: good.map(write) },
    { weight: 6, arbitrary: mutated(good).map(write) },
    { weight: 1, arbitrary: fc.array(good, { maxLength: 20 }).map(write) },
    { weight: 1, arbitrary: nastyValue.map(write) },
    { weight: 1, arbitrary: spoiltText(good) },
  );
}
