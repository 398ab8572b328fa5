import type { MiddlewareHandler } from "hono";
import { parseAccept } from "hono/utils/accept";
import { fault } from "./faults.ts";

/** Whether a caller who sends this `Accept` can read one of `types`. */
export function isAcceptable(accept: string | undefined, types: readonly string[]): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  const ranges = parseAccept(accept).filter(({ q }) => q > 0);
  return types.some((type) => ranges.some((range) => covers(range.type.toLowerCase(), type)));
}

function covers(range: string, type: string): boolean {
  return range === "*/*" || range === type || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

/** Fault: `not_acceptable`, where the caller reads none of the types that the route writes. */
export function requireAccept(types: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    if (!isAcceptable(c.req.header("accept"), types))
      throw fault("not_acceptable", { types: types.join(", ") });
    await next();
  };
}
