import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { etag } from "hono/etag";
import type { Facilitator } from "#facilitator";
import { openCors } from "../http/headers.ts";
import { limitByAddress } from "../http/limit.ts";

const HOUR = "public, max-age=3600";
/** How many URLs the legacy list names; whoever wants more pages through the index. */
const MAX_URLS = 100;

/** Documents that crawlers and agents read before they know anything. Source: agents.md §5. */
export function mountDocuments(
  app: OpenAPIHono,
  { facilitator, baseUrl }: { readonly facilitator: Pick<Facilitator, "discover">; readonly baseUrl: string },
): void {
  const catalog = {
    specVersion: "1.0",
    entries: [
      {
        identifier: `urn:air:${new URL(baseUrl).hostname}:mcp:farebox`,
        type: "application/mcp-server-card+json",
        url: `${baseUrl}/x402/mcp/server-card`,
      },
    ],
  };
  app.use("/.well-known/*", openCors);
  app.use("/llms.txt", openCors);
  app.get("/.well-known/ai-catalog.json", etag(), (c) =>
    document(c, JSON.stringify(catalog), "application/ai-catalog+json", HOUR),
  );
  app.get("/llms.txt", etag(), (c) => document(c, llms(baseUrl), "text/plain; charset=utf-8", HOUR));
  const legacyList = async (c: Context) => {
    const { items } = await facilitator.discover({ kinds: ["resource"], limit: MAX_URLS, offset: 0 });
    const list = { version: 1, resources: items.map(({ payable }) => payable.url) };
    return document(c, JSON.stringify(list), "application/json", "public, max-age=30");
  };
  for (const path of ["/.well-known/x402", "/.well-known/x402.json"])
    app.get(path, limitByAddress("discovery"), etag(), legacyList);
}

function document(c: Context, text: string, contentType: string, cacheControl: string): Response {
  return c.body(text, 200, { "Content-Type": contentType, "Cache-Control": cacheControl });
}

function llms(baseUrl: string): string {
  return `# Farebox

> A payment service for agents: an x402 facilitator with its own books. Find something to pay, pay it once from your own
> wallet, and ask how the payment ended. No key, no account. Private keys are never asked for.

## Four steps

1. Find: [listed resources](${baseUrl}/x402/resources), [listed invoices and links](${baseUrl}/x402/payables), or the MCP
   tools search_resources and search_payables.
2. Price: GET ${baseUrl}/x402/resources/{id}/payment-required, or call the URL unpaid and read the header
   PAYMENT-REQUIRED of its 402. Amounts are atomic units of the token in "asset".
3. Pay: sign one option with an x402 client. A resource: send the payload to the resource's own URL in
   PAYMENT-SIGNATURE, of an MCP tool in _meta["x402/payment"] of its call; its server settles. An invoice or link: send it
   to its agent URL, which settles and answers with the receipt.
4. Follow up: GET ${baseUrl}/x402/settlements/{paymentId}. "settlement_pending" is not a failure: repeat the identical
   request, never sign again.

## Links

- [MCP endpoint](${baseUrl}/x402/mcp): streamable HTTP, protocol 2026-07-28 and the 2025 versions
- [OpenAPI](${baseUrl}/openapi.json)
- [Resources](${baseUrl}/x402/resources)
- [Payables](${baseUrl}/x402/payables)
`;
}
