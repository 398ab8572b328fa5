import type { McpConfig } from "./deps.ts";

/** Bounds of one request. Source: agents.md §1.2, security.md §8. */
export const MAX_BODY_BYTES = 256 * 1_024;
export const MAX_BATCH = 16;

const loopback = ["localhost", "127.0.0.1", "[::1]"];
const METHODS = "POST";
const HEADERS = "Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
const EXPOSED = `${HEADERS}, Retry-After`;

/** Who may be addressed and from which pages: host names, without ports. */
export interface Guard {
  /** An answer to what must not, or need not, be read; null for a request that may be. */
  refuse(request: Request): Response | null;
  /** Lets an allowed page read the answer. */
  admit(request: Request, response: Response): Response;
}

/** The host list keeps a rebound name from reaching us through a browser, the origin list other people's pages. A
 *  request without an origin comes from no page and passes. */
export function guardOf({ baseUrl, allowedHosts = [], allowedOrigins = [] }: McpConfig): Guard {
  const own = new URL(baseUrl).hostname;
  const hosts = new Set([own, ...loopback, ...allowedHosts]);
  const origins = new Set([own, ...loopback, ...allowedOrigins]);
  return {
    admit,
    refuse(request) {
      if (!hosts.has(hostnameOf(`http://${request.headers.get("host") ?? ""}`)))
        return rpcError(403, -32000, "This host name is not served here.");
      const origin = request.headers.get("origin");
      if (origin !== null && !origins.has(hostnameOf(origin)))
        return rpcError(403, -32000, "Pages of this origin may not call here.");
      if (request.method === "OPTIONS" && origin !== null) return preflight(origin);
      if (request.method === METHODS) return null;
      return admit(request, rpcError(405, -32000, "Method not allowed: send POST.", { Allow: METHODS }));
    },
  };
}

function admit(request: Request, response: Response): Response {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  for (const [name, value] of Object.entries(cors(origin))) response.headers.set(name, value);
  return response;
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function cors(origin: string) {
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": EXPOSED,
    Vary: "Origin",
  };
}

function preflight(origin: string): Response {
  const headers = {
    ...cors(origin),
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": `${HEADERS}, PAYMENT-SIGNATURE, X-PAYMENT`,
    "Access-Control-Max-Age": "600",
  };
  return new Response(null, { status: 204, headers });
}

/** A JSON-RPC error that belongs to no request. */
export function rpcError(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null });
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
}
