import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { fault } from "./faults.ts";

/** An answer on its way to the caller. */
export interface Shaped {
  /** Method and route template, such as `GET /v1/payments/{id}`; of an event's `data`, `EVENT` and its type. */
  readonly route: string;
  readonly status: number;
  readonly body: unknown;
}
/** A dated revision of `/v1` after the first. */
export interface Revision {
  readonly date: string;
  /** Brings the body of this revision back to the one before it; returns what it does not concern as it came. */
  readonly down: (answer: Shaped) => unknown;
}
/** The revision that a request is answered in. */
export interface Served {
  readonly date: string;
  /** The body of the current revision as this one has it. */
  shape(answer: Shaped): unknown;
}

/** The initial public revision of `/v1`; nothing earlier can be pinned. */
const FIRST = "2026-08-11";

/** Revisions after the first, newest first. An additive change needs none (interface §9): an entry is for a change of
 *  shape, and its step undoes it for who pinned an earlier date. */
export const revisions: readonly Revision[] = [];

/** Date of the current revision. */
export function currentOf(later: readonly Revision[]): string {
  return later[0]?.date ?? FIRST;
}

/** The newest revision that is not after the pinned date; the current one without a pin, null for a date that cannot be
 *  pinned. Source: merchant-api.md §3.8. */
function resolveRevision(pinned: string | undefined, later: readonly Revision[]): Served | null {
  const current = currentOf(later);
  const asked = pinned ?? current;
  if (!isDate(asked) || asked < FIRST || asked > current) return null;
  const undone = later.filter(({ date }) => date > asked);
  return {
    date: later.find(({ date }) => date <= asked)?.date ?? FIRST,
    shape: (answer) => undone.reduce((body, { down }) => down({ ...answer, body }), answer.body),
  };
}

/** What was written down in one revision, as an earlier one has it; a later one has nothing else to give. */
export function reshapeFrom(
  later: readonly Revision[],
  { from, to }: { readonly from: string; readonly to: string },
  written: Shaped,
): unknown {
  const undone = later.filter(({ date }) => date > to && date <= from);
  return undone.reduce((body, { down }) => down({ ...written, body }), written.body);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Reads `Service-Version`, echoes the revision that was served, on refusals too, and brings JSON answers into its
 *  shape. An answer that names its revision already has it: a replayed one keeps that of the first time. Fault:
 *  `invalid_service_version`. */
export function serviceVersion(later: readonly Revision[]): MiddlewareHandler {
  const current = currentOf(later);
  return async (c, next) => {
    const served = resolveRevision(c.req.header("service-version"), later);
    c.set("served", served ?? { date: current, shape: ({ body }) => body });
    if (!served) throw fault("invalid_service_version", { current });
    await next();
    if (served.date !== current) await reshape(c);
  };
}

/** Around everything, so that a refusal of the pin itself names the current revision. */
export const echoVersion: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.has("Service-Version")) c.res.headers.set("Service-Version", c.var.served.date);
};

async function reshape(c: Context): Promise<void> {
  const isJson = c.res.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  if (!isJson || c.res.headers.has("Service-Version")) return;
  const body = c.var.served.shape({ route: routeOf(c), status: c.res.status, body: await c.res.json() });
  c.res = new Response(JSON.stringify(body), c.res);
}

/** Method and route template of the handler that was reached, as the OpenAPI document writes it. */
export function routeOf(c: Context): `${string} /${string}` {
  const path = routePath(c).replace(/:(\w+)(?:\{[^}]*\})?/g, "{$1}");
  return `${c.req.method} /${path.slice(1)}`;
}
