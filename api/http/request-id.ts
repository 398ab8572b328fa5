import type { MiddlewareHandler } from "hono";
import type { Edge } from "./context.ts";

/** Gives each request its context and an id of ours, which answers and logs carry. */
export function requestContext(edge: Edge): MiddlewareHandler {
  return async (c, next) => {
    const requestId = edge.newId("req");
    c.set("edge", edge);
    c.set("ctx", { requestId, log: edge.log, now: () => edge.clock.now() });
    await next();
    c.res.headers.set("Request-Id", requestId);
  };
}
