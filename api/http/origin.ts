import { z } from "@hono/zod-openapi";

const LOCAL = /^https?:\/\/(?:localhost|[\w-]+\.localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const MAX_ORIGINS = 50;

/** Origins of web pages, as a merchant lists them: scheme, host and port. `https://*.shop.example` stands for one label
 *  in the place of the star. */
export const AllowedOrigins = z
  .array(z.string().max(300).transform(asOrigin))
  .max(MAX_ORIGINS)
  .transform((origins) => [...new Set(origins)])
  .openapi({ type: "array", items: { type: "string" }, example: ["https://shop.example"] });

function asOrigin(text: string, ctx: z.RefinementCtx): string {
  const origin = URL.canParse(text) ? new URL(text) : null;
  const isBare = origin !== null && [origin.origin, `${origin.origin}/`].includes(text.toLowerCase());
  const isSecure = origin !== null && (origin.protocol === "https:" || LOCAL.test(origin.origin));
  if (origin !== null && isBare && isSecure && isStarFirst(origin.hostname)) return origin.origin;
  ctx.addIssue({
    code: "custom",
    message: "an origin such as https://shop.example or https://*.shop.example; http only for localhost",
  });
  return z.NEVER;
}

/** A star is a whole label, the first one, and two more follow at least. */
function isStarFirst(hostname: string): boolean {
  return !hostname.includes("*") || /^\*(?:\.[^.*]+){2,}$/.test(hostname);
}

/** The entries of a list that would allow this origin: itself, and a star in the place of its first label. */
export function entriesFor(origin: string): readonly string[] {
  const [, scheme, rest] = /^(https?:\/\/)[^.:/*]+(\.[^*]+)$/.exec(origin) ?? [];
  const exact = origin.includes("*") ? [] : [origin];
  return scheme === undefined ? exact : [...exact, `${scheme}*${rest}`];
}

/** Whether a page at `origin` may use a publishable key with this list. On a sandbox localhost always may, and an empty
 *  list means anybody. Source: merchant-api.md §5. */
export function isAllowedOrigin(
  origin: string,
  { allowedOrigins, isSandbox }: { readonly allowedOrigins: readonly string[]; readonly isSandbox: boolean },
): boolean {
  if (isSandbox && (allowedOrigins.length === 0 || LOCAL.test(origin))) return true;
  return entriesFor(origin).some((entry) => allowedOrigins.includes(entry));
}
