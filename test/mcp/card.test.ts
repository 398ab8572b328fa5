import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { baseUrl } from "../api/world.ts";
import { open } from "./opened.ts";

describe("the card", () => {
  it("says who and where, lists no tools, and shows a changed tool list by its hash", async () => {
    const { mcp } = open();
    const first = mcp.card(new Request(`${baseUrl}/x402/mcp/server-card`));
    const card = (await first.json()) as Record<string, unknown>;
    expect(first.headers.get("content-type")).toBe("application/mcp-server-card+json");
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
    expect(card).toMatchObject({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      // The registry's file must call us the same.
      name: JSON.parse(readFileSync(new URL("../../server.json", import.meta.url), "utf8")).name,
      version: "0.0.0",
      remotes: [{ type: "streamable-http", url: `${baseUrl}/x402/mcp` }],
      _meta: { "dev.farebox/farebox/tools": { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    });
    expect(card.tools).toBeUndefined();
    const etag = first.headers.get("etag") ?? "";
    const again = mcp.card(
      new Request(`${baseUrl}/x402/mcp/server-card`, { headers: { "if-none-match": etag } }),
    );
    expect(again.status).toBe(304);
  });
});
