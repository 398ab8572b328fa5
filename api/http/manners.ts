import type { Context } from "hono";
import { fault } from "./faults.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** Headers of every page. Source: security.md §4. */
export function pageHeaders(c: Context): void {
  c.header("Content-Security-Policy", policy);
  c.header("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  c.header("X-Frame-Options", "DENY");
  c.header("X-Robots-Tag", "noindex");
  c.header("Cache-Control", "no-store");
  c.header("Vary", "Accept, Accept-Language");
}

/** Refuses forms that another site's page sends. A page of ours says no referrer, so its origin may be `null`. Fault:
 *  `origin_not_allowed`. */
export function refuseForeignForm(c: Context, baseUrl: string): void {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  const isOurs =
    site !== undefined
      ? site === "same-origin" || site === "none"
      : origin === undefined || origin === "null" || origin === new URL(baseUrl).origin;
  if (!isOurs) throw fault("origin_not_allowed");
}

/** Fault: `body_too_large`, also for a body that does not say how long it is. */
export function demandLength(c: Context, limit: number): void {
  const announced = Number(c.req.header("content-length") ?? limit + 1);
  if (!(announced <= limit)) throw fault("body_too_large", { limit });
}

const FORM_LIMIT = 4_096;
const FORM = "application/x-www-form-urlencoded";

/** The fields of a form, in their order; those left empty are left out. Faults: `unsupported_media_type`,
 *  `body_too_large`, `validation_failed` for a NUL. */
export async function readFields(
  c: Context,
  limit: number,
): Promise<readonly (readonly [name: string, value: string])[]> {
  if (!(c.req.header("content-type") ?? "").toLowerCase().startsWith(FORM))
    throw fault("unsupported_media_type", { type: FORM });
  demandLength(c, limit);
  return filledIn([...new URLSearchParams(await c.req.text())]);
}

/** Fields without those left empty. PostgreSQL takes no NUL in text: no form holds one, as no body of JSON does. Fault:
 *  `validation_failed`. */
export function filledIn(
  fields: readonly (readonly [name: string, value: string])[],
): readonly (readonly [name: string, value: string])[] {
  if (fields.some((field) => field.join("").includes("\0"))) throw fault("validation_failed");
  return fields.filter(([, value]) => value !== "");
}

/** The fields of a small form. Faults: `unsupported_media_type`, `body_too_large`, `validation_failed` for a field
 *  that comes twice. */
export async function readForm(c: Context): Promise<Readonly<Record<string, string>>> {
  const fields = await readFields(c, FORM_LIMIT);
  if (new Set(fields.map(([name]) => name)).size < fields.length) throw fault("validation_failed");
  return Object.fromEntries(fields);
}
