import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, Next } from "hono";
import { fault, type PublicFaultCode } from "./faults.ts";
import { bodyFaults, problems, refuseInvalid } from "./route.ts";
import { isJson, JSON_TYPE } from "./strict-json.ts";

const Nothing = z.strictObject({});

/** The same routes, of which those that take no body refuse what one holds, as the others refuse what they do not know. */
export function refusingBodies<R extends { readonly route: RouteConfig }>(
  routes: readonly R[],
): readonly R[] {
  return routes.map((each) => {
    const { request, method, middleware = [] } = each.route;
    if (request?.body || method === "get") return each;
    const responses = { ...each.route.responses, ...problems(...codesOf(each.route), ...bodyFaults) };
    return { ...each, route: { ...each.route, responses, middleware: [...[middleware].flat(), refuseBody] } };
  });
}

/** The codes that a route documents. */
function codesOf({ responses }: RouteConfig) {
  return Object.values(responses).flatMap((response) => {
    const media = "content" in response ? response.content?.["application/problem+json"] : undefined;
    return Object.keys((media && "examples" in media && media.examples) || {}) as PublicFaultCode[];
  });
}

/** Behind `strictJson`, which has read the body and kept it: an empty object where there is none. Fault:
 *  `unsupported_media_type`. */
async function refuseBody(c: Context, next: Next): Promise<Response | undefined> {
  if (!isJson(c.req.header("content-type"))) throw fault("unsupported_media_type", { type: JSON_TYPE });
  const refused = refuseInvalid({ target: "json", ...Nothing.safeParse(await c.req.json()) }, c);
  if (refused) return refused;
  await next();
}
