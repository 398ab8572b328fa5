import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

const exposed = [
  "PAYMENT-REQUIRED",
  "PAYMENT-RESPONSE",
  "X-PAYMENT-RESPONSE",
  "EXTENSION-RESPONSES",
  "Retry-After",
  "Idempotent-Replayed",
  "Request-Id",
];
const allowed = [
  "Content-Type",
  "PAYMENT-SIGNATURE",
  "X-PAYMENT",
  "Idempotency-Key",
  // Stock clients send this one as a request header, so preflights ask for it.
  "Access-Control-Expose-Headers",
];

/** Any origin, without credentials: keyless routes show nothing that a key would protect. */
export const openCors: MiddlewareHandler = cors({
  origin: "*",
  allowMethods: ["GET", "POST"],
  allowHeaders: allowed,
  exposeHeaders: exposed,
  maxAge: 600,
});

/** What `openCors` adds to an answer, for routes that build theirs by hand. */
export const openCorsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(","),
} as const;

/** Never to be stored: paid answers and whatever belongs to one caller. */
export const PRIVATE = "no-store, private";

/** Headers of every answer that is not a page. HSTS only where the public URL is https. */
export function securityHeaders(baseUrl: string): MiddlewareHandler {
  const always: readonly (readonly [string, string])[] = [
    ["X-Content-Type-Options", "nosniff"],
    ["Referrer-Policy", "no-referrer"],
    ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"],
    ...(baseUrl.startsWith("https:") ? ([["Strict-Transport-Security", "max-age=31536000"]] as const) : []),
  ];
  return async (c, next) => {
    await next();
    for (const [name, value] of always) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  };
}

/** A merchant's own data is never stored on the way. */
export const privateAnswers: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", PRIVATE);
};
