import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { notFoundPage, prefersPage } from "./errors.ts";
import { fault } from "./faults.ts";
import { problem } from "./problem.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** 404, or 405 with `Allow` where the path exists under another method. */
export function answerNotFound(app: OpenAPIHono): (c: Context) => Response | Promise<Response> {
  return (c) => {
    const allow = methods.filter((method) => answers(app, method, c.req.path));
    if (allow.length === 0 || allow.includes(c.req.method as (typeof methods)[number]))
      return isForPeople(c) ? notFoundPage(c) : problem(c, fault("not_found"));
    return problem(c, fault("method_not_allowed"), { headers: { Allow: allow.join(", ") } });
  };
}

/** Programs call these, whatever they say that they read. */
const FOR_PROGRAMS = /^\/(?:v1|x402|health|openapi|\.well-known)(?:[/.;]|$)/;

function isForPeople(c: Context): boolean {
  return c.req.method === "GET" && !FOR_PROGRAMS.test(c.req.path) && prefersPage(c);
}

function answers(app: OpenAPIHono, method: string, path: string): boolean {
  const [found] = app.router.match(method, path);
  return found.some(([[, route]]) => route.method === method);
}
