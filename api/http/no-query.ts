import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, Next } from "hono";
import { refuseInvalid } from "./route.ts";

const Nothing = z.strictObject({});

/** The same routes, of which the lists that take no filter refuse any by name, as paged lists do: one that is passed over
 *  would list everything. */
export function refusingFilters<R extends { readonly route: RouteConfig }>(
  routes: readonly R[],
): readonly R[] {
  return routes.map((each) => {
    const { middleware = [] } = each.route;
    if (!isWholeList(each.route)) return each;
    return { ...each, route: { ...each.route, middleware: [...[middleware].flat(), refuseFilter] } };
  });
}

function isWholeList({ method, request, responses }: RouteConfig): boolean {
  const { 200: answer } = responses;
  const media = answer && "content" in answer ? answer.content?.["application/json"] : undefined;
  const isList = media !== undefined && "schema" in media && media.schema instanceof z.ZodArray;
  return method === "get" && !request?.query && isList;
}

async function refuseFilter(c: Context, next: Next): Promise<Response | undefined> {
  const refused = refuseInvalid({ target: "query", ...Nothing.safeParse(c.req.query()) }, c);
  if (refused) return refused;
  await next();
}
