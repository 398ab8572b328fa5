import type { MiddlewareHandler } from "hono";
import { fault } from "./faults.ts";
import { problem } from "./problem.ts";

/** PostgreSQL takes no NUL in text: one in a path is no id of anything, one in a query is wrong. Bodies are read by
 *  `strictJson`, which refuses it as well. Source: security.md §8. */
export const refuseNul: MiddlewareHandler = async (c, next) => {
  if (!c.req.url.includes("%00")) return next();
  if (c.req.path.includes("\0") || c.req.path.includes("%00")) return problem(c, fault("not_found"));
  const [name] = Object.entries(c.req.queries()).find((pair) => pair.flat().join("").includes("\0")) ?? [];
  if (name === undefined) return next();
  const error = { pointer: `/query/${name}`, code: "nul", detail: "The value holds a NUL character." };
  return problem(c, fault("validation_failed"), { errors: [error] });
};
