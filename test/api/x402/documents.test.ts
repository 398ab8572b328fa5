import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { baseUrl, quote, world } from "../world.ts";

const { app } = world();
const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });

describe("documents for machines", () => {
  it("the AI catalog leads to the server card", async () => {
    const response = await get("/.well-known/ai-catalog.json");
    expect(response.headers.get("content-type")).toBe("application/ai-catalog+json");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.json()).toEqual({
      specVersion: "1.0",
      entries: [
        {
          identifier: "urn:air:pay.example:mcp:farebox",
          type: "application/mcp-server-card+json",
          url: `${baseUrl}/x402/mcp/server-card`,
        },
      ],
    });
    const etag = response.headers.get("etag") ?? "";
    expect((await get("/.well-known/ai-catalog.json", { "if-none-match": etag })).status).toBe(304);
  });

  it.each(["/.well-known/x402", "/.well-known/x402.json"])("%s lists what is listed", async (path) => {
    expect(await (await get(path)).json()).toEqual({ version: 1, resources: [quote.payable.url] });
  });

  it("llms.txt is one screen that names every door", async () => {
    const response = await get("/llms.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    for (const path of ["/x402/mcp", "/openapi.json", "/x402/resources", "/x402/payables"])
      expect(text).toContain(`${baseUrl}${path}`);
    expect(text.split("\n").length).toBeLessThan(40);
  });

  it("nobody is sent to an OAuth server", async () => {
    expect((await get("/.well-known/oauth-protected-resource")).status).toBe(404);
  });

  it("OpenAPI tells indexers that a payable's agent URL is paid for, and that the rest is free", async () => {
    const { paths } = (await (await get("/openapi.json")).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(paths["/x402/payables/{id}"]?.get).toMatchObject({
      "x-payment-info": { protocols: [{ x402: {} }] },
      responses: { 200: expect.anything(), 402: expect.anything(), 410: expect.anything() },
    });
    expect(paths["/x402/payables"]?.get).toMatchObject({ security: [] });
  });
});

describe("server.json", () => {
  it("names the version and the place that the registry should know", () => {
    const root = new URL("../../../", import.meta.url);
    const file = (name: string) => JSON.parse(readFileSync(new URL(name, root), "utf8"));
    const server = file("server.json");
    expect(server.version).toBe(file("package.json").version);
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(server.description.length).toBeLessThanOrEqual(100);
    expect(server.remotes).toMatchObject([{ type: "streamable-http", url: "https://{host}/x402/mcp" }]);
  });
});
