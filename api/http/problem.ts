import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { core } from "zod";
import { Fault, type FaultContext, type FaultKind } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { outageOf } from "#store";
import { asPublic, fault, publicFaults } from "./faults.ts";
import { policyOf, type RateName, rateOf } from "./rates.ts";
import { requestFields } from "./request-id.ts";
import { JSON_TYPE } from "./strict-json.ts";

const statusOf = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  gone: 410,
  "too-large": 413,
  "unsupported-media": 415,
  unprocessable: 422,
  dependency: 424,
  "rate-limited": 429,
  bug: 500,
  unavailable: 503,
} as const satisfies Record<FaultKind, number>;

/** HTTP status of a code that callers may see. */
export function statusOfCode(code: string): ContentfulStatusCode {
  const spec = Object.hasOwn(publicFaults, code) ? publicFaults[code] : undefined;
  return spec?.status ?? statusOf[spec?.kind ?? "bug"];
}

/** Members of a fault's context that callers may see; all else stays inside. */
const shownContext = ["permission", "currentVersion", "retryAfterSeconds", "budget"] as const;
const retryKinds: ReadonlySet<FaultKind> = new Set(["rate-limited", "unavailable", "dependency"]);

/** One place of the request that is wrong; `pointer` is a JSON pointer into the body, or names a parameter. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}
export interface ProblemParts {
  readonly errors?: readonly FieldError[];
  /** Members beside the standard ones: the typed fields of an x402 answer. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface ProblemPlace {
  readonly baseUrl: string;
  readonly path: string;
  readonly requestId: string;
}

/** RFC 9457 problem details for a fault. Source: merchant-api.md §3.1. */
export function problemResponse(place: ProblemPlace, seen: Fault, parts: ProblemParts = {}): Response {
  const shown = asPublic(seen);
  const status = Object.hasOwn(publicFaults, shown.code) ? statusOfCode(shown.code) : statusOf[shown.kind];
  const errors = parts.errors ?? pointed(shown);
  const body = {
    type: `${place.baseUrl}/errors/${shown.code}`,
    title: shown.title,
    status,
    detail: shown.detail,
    instance: place.path,
    code: shown.code,
    requestId: place.requestId,
    ...(errors.length > 0 ? { errors } : {}),
    ...contextMembers(shown.context),
    ...parts.members,
  };
  const headers: Record<string, string> = {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    ...standardHeaders(shown, place),
    ...parts.headers,
  };
  return new Response(JSON.stringify(body), { status, headers });
}

export function problem(c: Context, seen: Fault, parts: ProblemParts = {}): Response {
  return problemResponse(placeOf(c), seen, parts);
}

function placeOf(c: Context): ProblemPlace {
  return { baseUrl: c.var.edge.baseUrl, path: c.req.path, requestId: c.var.ctx.requestId };
}

/** `onError` of the app: everything that was thrown becomes problem details; what nobody expected is logged. */
export function onError(error: unknown, c: Context): Response {
  const seen = toFault(error);
  if (seen.kind === "bug" || seen.kind === "unavailable") {
    const level = seen.kind === "bug" ? "error" : "warn";
    c.var.ctx.log[level](
      { ...requestFields(c), path: c.req.path, ...errorFields(error) },
      "a request failed",
    );
  }
  return problem(c, seen);
}

/** The fault that stands for anything thrown. A drizzle error's message holds SQL, so it never leaves. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof HTTPException) return httpFault(error);
  return outageOf(error) ? fault("unavailable", {}, error) : fault("internal_error", {}, error);
}

function httpFault(error: HTTPException): Fault {
  if (error.status === 413) return fault("body_too_large", {}, error);
  if (error.status === 415) return fault("unsupported_media_type", { type: JSON_TYPE }, error);
  if (error.status === 404) return fault("not_found", {}, error);
  if (error.status >= 500) return fault("internal_error", {}, error);
  return fault("invalid_json", { why: "it is malformed" }, error);
}

function standardHeaders({ kind, code, context }: Fault, place: ProblemPlace): Record<string, string> {
  if (kind === "unauthenticated") return { "WWW-Authenticate": "Bearer" };
  if (code === "idempotency_key_required") return { Link: `<${place.baseUrl}/errors/${code}>; rel="help"` };
  if (!retryKinds.has(kind) && code !== "idempotency_in_progress") return {};
  const seconds = Number(context.retryAfterSeconds ?? 1);
  return { "Retry-After": String(seconds), ...rateHeadersOf(context.policy, seconds) };
}

function rateHeadersOf(policy: FaultContext[string], resetSeconds: number): Record<string, string> {
  if (typeof policy !== "string") return {};
  const name = policy as RateName;
  return { "RateLimit-Policy": policyOf(name), RateLimit: rateOf(name, { remaining: 0, resetSeconds }) };
}

function contextMembers(context: FaultContext): Record<string, unknown> {
  return Object.fromEntries(
    shownContext.flatMap((name) => (context[name] === undefined ? [] : [[name, context[name]]])),
  );
}

/** The place that a fault itself points to, if it does. */
export function pointed({ context, code, detail }: Fault): readonly FieldError[] {
  const { pointer, why } = context;
  if (typeof pointer !== "string") return [];
  return [{ pointer, code, detail: code === "validation_failed" && typeof why === "string" ? why : detail }];
}

/** What zod found, as JSON pointers. The name of an unknown key stands in `keys`, not in the path. */
export function fieldErrors(issues: readonly core.$ZodIssue[], root = ""): FieldError[] {
  return issues.flatMap((issue) => {
    const at = root + issue.path.map((step) => `/${escapePointer(String(step))}`).join("");
    if (issue.code !== "unrecognized_keys")
      return [{ pointer: at, code: issue.code, detail: detailOf(issue) }];
    return issue.keys.map((key) => ({
      pointer: `${at}/${escapePointer(key)}`,
      code: "unknown_key",
      detail: "This key is not known here.",
    }));
  });
}

/** How it is said that something is not there. */
export const NOT_THERE = "It is missing.";

/** In JSON nothing is undefined: what is said to be is not there. What is wrong with a key stands inside its issue. */
function detailOf(issue: core.$ZodIssue): string {
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  if (issue.code !== "invalid_type" || !issue.message.endsWith("received undefined")) return issue.message;
  const { expected } = issue;
  return `${NOT_THERE} Send ${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}.`;
}

function escapePointer(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}
