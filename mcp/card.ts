import { stableHash } from "#kernel/codec";
import type { McpConfig } from "./deps.ts";
import { toolList } from "./server.ts";

/** Our name in registries: reverse DNS, one slash. The file `server.json` has the same. */
const NAME = "dev.farebox/farebox";
const DESCRIPTION = "Find paid APIs and invoices, pay them with x402, follow the payment.";
const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** `GET /x402/mcp/server-card`: who answers here and where, before anybody connects. It lists no tools; the hash of
 *  their list stands in `_meta`, so that a silent change is visible. Source: agents.md §5. */
export function serverCard({ baseUrl, version }: McpConfig): (request: Request) => Response {
  const body = JSON.stringify({
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: NAME,
    title: "Farebox",
    version,
    description: DESCRIPTION,
    websiteUrl: baseUrl,
    remotes: [{ type: "streamable-http", url: `${baseUrl}/x402/mcp`, supportedProtocolVersions: VERSIONS }],
    _meta: { [`${NAME}/tools`]: { count: toolList.length, sha256: stableHash(toolList).slice(2) } },
  });
  const headers = {
    "Content-Type": "application/mcp-server-card+json",
    "Cache-Control": "public, max-age=3600",
    ETag: `"${stableHash(body).slice(2, 34)}"`,
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag",
    "X-Content-Type-Options": "nosniff",
  };
  return (request) =>
    request.headers.get("if-none-match") === headers.ETag
      ? new Response(null, { status: 304, headers })
      : new Response(body, { headers });
}
