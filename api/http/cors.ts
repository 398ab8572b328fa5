import type { Context, MiddlewareHandler } from "hono";
import { fault } from "./faults.ts";
import { clientAddress } from "./limit.ts";
import { problem } from "./problem.ts";

const allowed = "Authorization, Content-Type, Idempotency-Key, Service-Version";
const exposed = [
  "Idempotent-Replayed",
  "Link",
  "Location",
  "Next-Cursor",
  "RateLimit",
  "RateLimit-Policy",
  "Request-Id",
  "Retry-After",
  "Service-Version",
].join(", ");

/** `/v1` in a browser: pages of origins that some publishable key allows may call and read it, never with cookies. A
 *  preflight carries no key, so the key's own list is checked with the request that follows. Source: merchant-api.md §5. */
export const keyCors: MiddlewareHandler = async (c, next) => {
  const origin = c.req.header("origin");
  const isPreflight =
    c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined;
  if (origin !== undefined && isPreflight) return preflight(c, origin);
  await next();
  c.res.headers.append("Vary", "Origin");
  if (origin === undefined || !(await isReadable(c, origin))) return;
  c.res.headers.set("Access-Control-Allow-Origin", origin);
  c.res.headers.set("Access-Control-Expose-Headers", exposed);
};

async function preflight(c: Context, origin: string): Promise<Response> {
  if (!(await isReadable(c, origin)))
    return problem(c, fault("origin_not_allowed"), { headers: { Vary: "Origin" } });
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": "GET, POST",
      "Access-Control-Allow-Headers": allowed,
      "Access-Control-Max-Age": "600",
      Vary: "Origin",
    },
  });
}

/** Strangers may ask for any number of origins, and each costs a look at the database: beyond a rate the answer is no. */
async function isReadable(c: Context, origin: string): Promise<boolean> {
  const { edge } = c.var;
  if ((await edge.limits("origin", clientAddress(c, edge))) !== null) return false;
  return edge.isKnownOrigin(origin);
}
