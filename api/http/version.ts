import type { MiddlewareHandler } from "hono";
import { fault } from "./faults.ts";

/** The initial public revision of `/v1`; nothing earlier can be pinned. */
const FIRST = "2026-08-11";

/** Echoes the revision that was served, on refusals too. Source: interface §9, merchant-api.md §3.8. */
export const echoVersion: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set("Service-Version", c.var.edge.revision);
};

/** Reads `Service-Version`. Fault: `invalid_service_version`. */
export const serviceVersion: MiddlewareHandler = async (c, next) => {
  const current = c.var.edge.revision;
  const pinned = c.req.header("service-version");
  if (pinned !== undefined && !isServed(pinned, current)) throw fault("invalid_service_version", { current });
  await next();
};

/** One revision exists so far, so every date that may be pinned resolves to it. */
function isServed(pinned: string, current: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(pinned)) return false;
  const at = new Date(`${pinned}T00:00:00Z`);
  const isDate = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(pinned);
  return isDate && pinned >= FIRST && pinned <= current;
}
