import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, McpServer as NewServer } from "@modelcontextprotocol/server";
import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createSafeFetch, type SafeFetch } from "../../../api/http/safe-fetch.ts";
import { optionsOf, probeEndpoint } from "../../../api/resource/probe.ts";
import { askingFor, type McpEndpoint, serveMcp } from "../../support/mcp-endpoint.ts";
import { rail, requirements } from "../world.ts";

const options = optionsOf({ amount: 10_000n, asset: "USD" }, [], [rail]);
const required = (changes: object = {}) => ({
  x402Version: 2,
  error: "Payment required to access this tool",
  resource: { url: "mcp://tool/paid_tool", description: "", mimeType: "application/json" },
  accepts: [requirements],
  ...changes,
});
const accepting = (changes: object) => required({ accepts: [{ ...requirements, ...changes }] });
type Result =
  ReturnType<ReturnType<typeof askingFor>["content"]["at"]> extends infer Text
    ? { isError?: boolean; structuredContent?: Record<string, unknown>; content: NonNullable<Text>[] }
    : never;

const limits = { connectMs: 1_000, totalMs: 1_000, maxBytes: 65_536 };
const safeFetch = createSafeFetch({ allowLocal: true, userAgent: "Farebox/test", limits });
const own = { isOwnHost: async () => true };
const foreign = { isOwnHost: async () => false };

/** What the tools of the server do when they are called. */
let answer: (args: unknown) => Result | Promise<Result>;
let calls: unknown[];
let shop: McpEndpoint;
beforeEach(async () => {
  answer = () => askingFor(required());
  calls = [];
  const handle = (args: unknown) => {
    calls.push(args);
    return answer(args);
  };
  shop = await serveMcp((server: McpServer) => {
    server.registerTool("forecast", {}, () => handle({}));
    server.registerTool("lookup", { annotations: { readOnlyHint: true } }, () => handle({}));
    server.registerTool("weather", { inputSchema: { city: z.string() } }, handle);
  });
});
afterEach(() => shop.close());

const selling = (toolName: string, example?: Record<string, unknown>) => ({
  url: shop.url,
  extensions: declareDiscoveryExtension({
    toolName,
    inputSchema: { type: "object" },
    ...(example ? { example } : {}),
  }) as Record<string, unknown>,
  options,
});
const probe = (toolName = "forecast", host = own, fetch: SafeFetch = safeFetch) =>
  probeEndpoint(fetch, selling(toolName), host);
const codes = async (result: Result) => {
  answer = () => result;
  const { ok, findings } = await probe();
  expect(ok).toBe(false);
  for (const { detail } of findings) expect(detail).toMatch(/^[A-Z].{20,300}\.$/);
  return findings.map(({ code }) => code);
};

describe("a tool of a stock MCP server", () => {
  it("is found good where an unpaid call asks for what was registered; its session is ended", async () => {
    expect(await probe()).toMatchObject({ ok: true, status: 402, findings: [] });
    expect(calls).toEqual([{}]);
    expect(shop.requests).toEqual([
      "POST initialize",
      "POST notifications/initialized",
      "POST tools/call",
      "DELETE",
    ]);
    expect(shop.open.size).toBe(0);
  });

  it("is asked in the form of today's servers too, which keep no session", async () => {
    const handler = createMcpHandler(() => {
      const server = new NewServer({ name: "shop", version: "1.0.0" });
      server.registerTool("forecast", {}, () => askingFor(required()));
      return server;
    });
    const fetch: SafeFetch = async (url, { method = "GET", headers = {}, body = null } = {}) => {
      const sent = new Request(url, { method, headers, body: body === null ? null : String(body) });
      const response = await handler.fetch(sent);
      const { status } = response;
      return {
        ok: true,
        status,
        headers: new Map(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      };
    };
    expect(await probe("forecast", own, fetch)).toMatchObject({ ok: true, status: 402, findings: [] });
    await handler.close();
  });

  it("may name the tool or the registered URL as what is paid; another URL of the web is a finding", async () => {
    for (const url of [shop.url, "mcp://tool/forecast"]) {
      answer = () => askingFor(required({ resource: { url } }));
      const { ok, challenge } = await probe();
      expect([ok, challenge?.url]).toEqual([true, shop.url]);
    }
    const elsewhere = required({ resource: { url: "https://elsewhere.example/mcp" } });
    expect(await codes(askingFor(elsewhere))).toEqual(["probe_url_mismatch"]);
  });

  it("may put the price into the text alone, where stock clients look as well", async () => {
    const { structuredContent: _, ...rest } = askingFor(required());
    answer = () => rest;
    expect(await probe()).toMatchObject({ ok: true, findings: [] });
  });

  it("that wants arguments is sent those of the registered example, once none were refused", async () => {
    const { findings } = await probeEndpoint(safeFetch, selling("weather"), own);
    expect(findings).toEqual([
      { code: "probe_not_402", detail: expect.stringContaining("info.input.example") },
    ]);
    expect(calls).toEqual([]);
    const example = { city: "Oslo" };
    expect(await probeEndpoint(safeFetch, selling("weather", example), own)).toMatchObject({ ok: true });
    expect(calls).toEqual([example]);
  });
});

describe("a host that does not name the merchant", () => {
  it("has no tool called that may change something", async () => {
    const { ok, findings } = await probe("forecast", foreign);
    expect([ok, findings.map(({ code }) => code)]).toEqual([false, ["probe_method_withheld"]]);
    expect(findings[0]?.detail).toMatch(/well-known\/x402.*readOnlyHint/);
    expect(calls).toEqual([]);
    expect(shop.requests).not.toContain("POST tools/call");
    expect(shop.open.size).toBe(0);
  });

  it("has one called of which it says itself that it changes nothing", async () => {
    expect(await probe("lookup", foreign)).toMatchObject({ ok: true, status: 402 });
    expect(calls).toEqual([{}]);
  });
});

describe("findings", () => {
  it("probe_not_402 for a tool that gives away, that fails, and that is not there", async () => {
    const text = (words: string) => [{ type: "text" as const, text: words }];
    expect(await codes({ content: text("sunny") })).toEqual(["probe_not_402"]);
    expect(await codes({ isError: true, content: text("no") })).toEqual(["probe_not_402"]);
    for (const host of [own, foreign]) {
      const { ok, findings } = await probe("nothing", host);
      expect([ok, findings.map(({ code }) => code)]).toEqual([false, ["probe_not_402"]]);
      expect(findings[0]?.detail).toContain("Register toolName exactly");
    }
  });

  it("probe_no_challenge for a price that clients do not find", async () => {
    const { structuredContent, content } = askingFor(required());
    expect(await codes({ structuredContent, content })).toEqual(["probe_no_challenge"]);
    const v1 = askingFor({ x402Version: 1, accepts: [] });
    expect(await codes(v1)).toEqual(["probe_no_challenge"]);
    const meta = { isError: true, content: [], _meta: { "x402/error": required() } };
    expect(await codes(meta)).toEqual(["probe_no_challenge"]);
  });

  it("of another option, price and payee, in words for an MCP server", async () => {
    const theirs = "0x2222222222222222222222222222222222222222";
    expect(await codes(askingFor(accepting({ network: "eip155:1" })))).toEqual(["probe_option_missing"]);
    expect(await codes(askingFor(accepting({ amount: "1", payTo: theirs })))).toEqual([
      "probe_price_mismatch",
      "probe_pay_to_mismatch",
    ]);
    for (const { detail } of (await probe()).findings)
      expect(detail).toMatch(/^The PaymentRequired of the tool/);
  });

  it("probe_timeout for a tool that works before it asks; the session is ended all the same", async () => {
    answer = () => new Promise(() => {});
    const { status, findings } = await probe();
    expect([status, findings.map(({ code }) => code)]).toEqual([null, ["probe_timeout"]]);
    expect(shop.open.size).toBe(0);
  });

  it.each([
    ["timeout", "probe_timeout"],
    ["unreachable", "probe_unreachable"],
    ["blocked-address", "probe_blocked_address"],
    ["url-not-allowed", "probe_blocked_address"],
  ] as const)("of no answer, %s, is %s", async (problem, code) => {
    const { status, findings } = await probe("forecast", own, async () => ({ ok: false, problem }));
    expect([status, findings.map((found) => found.code)]).toEqual([null, [code]]);
  });

  it("a local address is blocked where local targets are not allowed", async () => {
    const guarded = createSafeFetch({ allowLocal: false, userAgent: "Farebox/test" });
    const endpoint = { ...selling("forecast"), url: shop.url.replace("http:", "https:").replace(/:\d+/, "") };
    const { findings } = await probeEndpoint(guarded, endpoint, own);
    expect(findings.map(({ code }) => code)).toEqual(["probe_blocked_address"]);
    expect(shop.requests).toEqual([]);
  });

  it.each([
    [307, "probe_not_402", "Redirects are not followed"],
    [401, "probe_not_402", "without a key or login"],
    [402, "probe_no_challenge", "structuredContent"],
    [404, "probe_not_402", "Streamable HTTP endpoint"],
    [405, "probe_not_402", "Streamable HTTP endpoint"],
    [500, "probe_not_402", "Answer initialize"],
    [200, "probe_not_402", "does not speak MCP"],
  ])("of a server that answers %s is %s, with the way out", async (status, code, advice) => {
    const asked: string[] = [];
    const {
      ok,
      status: told,
      findings,
    } = await probe("forecast", own, async (url) => {
      asked.push(url);
      const headers = new Map([
        ["location", "/elsewhere"],
        ["content-type", "text/html"],
      ]);
      return { ok: true, status, headers, body: Buffer.from("<html>") };
    });
    expect([ok, told, findings]).toEqual([
      false,
      status,
      [{ code, detail: expect.stringContaining(advice) }],
    ]);
    expect(asked).toEqual([shop.url]);
  });
});

describe("a server that asks its client back", () => {
  it("gets no more than a handful of requests", async () => {
    let sent = 0;
    const pings = Array.from({ length: 200 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    const body = Buffer.from(pings.map((ping) => `data: ${JSON.stringify(ping)}\n\n`).join(""));
    const headers = new Map([["content-type", "text/event-stream"]]);
    const stop = new AbortController();
    const probing = probeEndpoint(
      async () => {
        sent += 1;
        if (sent === 12) setImmediate(() => stop.abort());
        return { ok: true, status: 200, headers, body };
      },
      selling("forecast"),
      { ...own, stopping: stop.signal },
    );
    expect((await probing).ok).toBe(false);
    expect(sent).toBe(12);
  });
});
