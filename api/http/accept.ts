import type { MiddlewareHandler } from "hono";
import { parseAccept } from "hono/utils/accept";
import { fault } from "./faults.ts";

/** Whether a caller who sends this `Accept` can read one of `types`. */
export function isAcceptable(accept: string | undefined, types: readonly string[]): boolean {
  return types.some((type) => wishFor(accept, type) > 0);
}

/** The one of `types` that a caller who sends this `Accept` wants most; of those wanted alike, the first. */
export function preferredType<T extends string>(accept: string | undefined, types: readonly [T, ...T[]]): T {
  return types.reduce((best, type) => (wishFor(accept, type) > wishFor(accept, best) ? type : best));
}

/** How much a type is wanted, from 0 to 1: what names it best decides. Source: RFC 9110 §12.5.1. */
function wishFor(accept: string | undefined, type: string): number {
  if (accept === undefined || accept.trim() === "") return 1;
  const ranges = parseAccept(accept);
  for (const name of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const range = ranges.find((each) => each.type.toLowerCase() === name);
    if (range) return range.q;
  }
  return 0;
}

/** Fault: `not_acceptable`, where the caller reads none of the types that the route writes. */
export function requireAccept(types: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    if (!isAcceptable(c.req.header("accept"), types))
      throw fault("not_acceptable", { types: types.join(", ") });
    await next();
  };
}
