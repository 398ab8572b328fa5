import type { Context, MiddlewareHandler } from "hono";
import type { LogFields } from "#kernel/log";
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

/** A name that cannot be taken for anything else in a log. */
const SAFE = /^[A-Za-z0-9_.:-]{1,64}$/;

/** By what a request is found in the logs: our id, and the caller's own where it sent one (`X-Request-Id`). Source:
 *  security.md §10. */
export function requestFields(c: Context): LogFields {
  const { requestId } = c.var.ctx;
  const own = c.req.header("x-request-id") ?? c.req.header("request-id");
  return own !== undefined && SAFE.test(own) ? { requestId, clientRequestId: own } : { requestId };
}
