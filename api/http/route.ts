import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { requireSecretKey } from "./auth.ts";
import { type ApiFaultCode, apiFaults, fault } from "./faults.ts";
import type { Permission } from "./permissions.ts";
import { fieldErrors, problem, statusOf } from "./problem.ts";
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

/** The refusals a route documents, by status. Common ones are added: 400, 429, 500, 503. */
export function problems(...codes: readonly ApiFaultCode[]) {
  const all: ApiFaultCode[] = [
    "validation_failed",
    "rate_limited",
    "internal_error",
    "unavailable",
    ...codes,
  ];
  const byStatus = new Map<number, ApiFaultCode[]>();
  for (const code of new Set(all)) {
    const status = statusOf[apiFaults[code].kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      { description: named.join(", "), content: { "application/problem+json": { schema: Problem } } },
    ]),
  );
}

/** A route for a secret key with this permission. Spread it into `createRoute`. */
export function secretKey({ permission }: { readonly permission: Permission }) {
  // The key comes first: nobody without one makes us read a body.
  const middleware: MiddlewareHandler[] = [requireSecretKey(permission), strictJson()];
  return { security: [{ secretKey: [] as string[] }], middleware };
}

export const IdempotencyHeader = z.object({
  "idempotency-key": z.string().optional().openapi({ description: "1 to 255 printable ASCII characters" }),
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
