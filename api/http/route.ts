import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { requireAccept } from "./accept.ts";
import { requireAnyKey, requireSecretKey } from "./auth.ts";
import { fault, type PublicFaultCode, publicFaults } from "./faults.ts";
import { limitByAddress } from "./limit.ts";
import type { Permission } from "./permissions.ts";
import { fieldErrors, problem, statusOfCode } from "./problem.ts";
import type { RateName } from "./rates.ts";
import { strictJson } from "./strict-json.ts";

/** RFC 9457, as every refusal outside the payment protocol answers. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    requestId: z.string(),
    errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
  })
  .openapi("Problem");

/** A JSON answer. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A JSON body that must be there. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true, content: { "application/json": { schema } } };
}

/** What any route under `/v1` may refuse with, by what the route asks for. */
const versionFaults = ["invalid_service_version", "not_acceptable"] as const;
const keyFaults = ["unauthenticated", "duplicate_header", "address_not_allowed", ...versionFaults] as const;
export const secretKeyFaults = [
  ...keyFaults,
  "permission_denied",
  "merchant_suspended",
  "secret_key_required",
  "secret_key_in_browser",
] as const;
export const keylessFaults = versionFaults;
export const publishableKeyFaults = [...keyFaults, "origin_not_allowed"] as const;
export const bodyFaults = ["invalid_json", "body_too_large", "unsupported_media_type"] as const;
export const idempotencyFaults = [
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_in_progress",
] as const;
export const requiredKeyFaults = ["idempotency_key_required", ...idempotencyFaults] as const;

/** The refusals a route documents, by status, with an example of each code. Common ones are added: 400, 429, 500, 503. */
export function problems(...codes: readonly PublicFaultCode[]) {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set([
    "validation_failed",
    ...codes,
    "rate_limited",
    "internal_error",
    "unavailable",
  ])) {
    const status = statusOfCode(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      {
        description: named.join(", "),
        content: {
          "application/problem+json": {
            schema: Problem,
            examples: Object.fromEntries(
              named.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  );
}

/** A problem with this code, as the document shows it. */
export function exampleProblem(code: string) {
  const { title = code, detail = "" } = publicFaults[code] ?? {};
  return {
    type: `https://pay.example/errors/${code}`,
    title,
    status: statusOfCode(code),
    detail,
    instance: "/v1/…",
    code,
    requestId: "req_01K2C0Z0000000000000000000",
  };
}

interface RouteOptions {
  /** Media types that the route answers with; JSON when left out. */
  readonly produces?: readonly string[];
}

/** A route for a secret key with this permission. Spread it into `createRoute`. */
export function secretKey({
  permission,
  produces,
  isNotedByVerb,
}: RouteOptions & {
  readonly permission: Permission;
  /** What it changes, its verb writes into the audit log, with more than a route can tell. */
  readonly isNotedByVerb?: boolean;
}) {
  return {
    security: [{ secretKey: [] as string[] }],
    middleware: behind(requireSecretKey(permission, { isNotedByVerb }), produces),
    "x-permission": permission,
  };
}

/** A route for a publishable key; a secret one may call it as well. Spread it into `createRoute`. Source: interface §5. */
export function publishableKey({ produces }: RouteOptions = {}) {
  return {
    security: [{ publishableKey: [] as string[] }, { secretKey: [] as string[] }],
    middleware: behind(requireAnyKey, produces),
  };
}

/** A route for whoever holds the id in its path, limited by where they come from. Spread it into `createRoute`. */
export function keyless({ limit, produces }: RouteOptions & { readonly limit: RateName }) {
  return { security: [], middleware: behind(limitByAddress(limit), produces) };
}

/** The key comes first: nobody without one makes us read a body. */
function behind(credential: MiddlewareHandler, produces: readonly string[] = ["application/json"]) {
  return [credential, requireAccept(produces), strictJson()];
}

const keyHeader = z.string().optional();
const aboutKey = {
  description: "1 to 255 printable ASCII characters, kept unchanged when the request is repeated",
  example: "order-1042",
  minLength: 1,
  maxLength: 255,
};

/** Headers of a write that takes an `Idempotency-Key`, or of one that asks for it (`keyed` and `demandIdempotencyKey`
 *  read it: a refusal has a code of its own). */
export const IdempotencyHeader = z.object({ "idempotency-key": keyHeader.openapi(aboutKey) });
export const RequiredIdempotencyHeader = z.object({
  "idempotency-key": keyHeader.openapi({ ...aboutKey, param: { required: true } }),
});

type Refused = { readonly target: string } & (
  | { readonly success: true }
  | { readonly success: false; readonly error: { readonly issues: Parameters<typeof fieldErrors>[0] } }
);

/** What zod refused becomes problem details with JSON pointers. */
export function refuseInvalid(result: Refused, c: Context): Response | undefined {
  if (result.success) return undefined;
  const root = result.target === "json" ? "" : `/${result.target}`;
  return problem(c, fault("validation_failed"), { errors: fieldErrors(result.error.issues, root) });
}
