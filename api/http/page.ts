import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { stableHash } from "#kernel/codec";
import { fault } from "./faults.ts";

const LIMIT = 100;
const MAX_LIMIT = 200;

/** Query of every list under `/v1`. Strict: a filter that is misspelt must not list everything. */
export const PageQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, "a number from 1 to 200")
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, `a number from 1 to ${MAX_LIMIT}`)
    .optional()
    .openapi({ type: "integer", minimum: 1, maximum: MAX_LIMIT, default: LIMIT }),
  cursor: z.string().max(300).optional(),
});
export type PageQuery = z.infer<typeof PageQuery>;

export interface Page {
  readonly limit: number;
  /** Id of the last item seen; the page begins after it. */
  readonly after: string | null;
}

/** What a cursor belongs to: an address, and everything else that the list there depends on. */
interface Listed {
  readonly path: string;
  readonly filter: unknown;
}

/** The page that is asked for, of one `filter`. `path` is the list's own, where that is not the request's. Fault:
 *  `invalid_cursor`. */
export function readPage(
  c: Context,
  { limit = LIMIT, cursor }: PageQuery,
  filter: unknown,
  path = c.req.path,
): Page {
  if (cursor === undefined) return { limit, after: null };
  const [id = "", seal = ""] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  const expected = Buffer.from(sealOf(c, id, { path, filter }));
  const sent = Buffer.from(seal);
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) throw fault("invalid_cursor");
  return { limit, after: id };
}

/** `Link` and `Next-Cursor`, where there is more. Ask the database for `limit + 1` items to know. */
export function pageOf<T extends { readonly id: string }>(
  c: Context,
  page: Page,
  found: readonly T[],
  filter: unknown,
): readonly T[] {
  const { path } = c.req;
  const cursor = nextCursor(c, page, found, { path, filter });
  if (cursor !== null) {
    c.header("Link", `<${new URL(nextAddress(c, path, cursor), c.var.edge.baseUrl).href}>; rel="next"`);
    c.header("Next-Cursor", cursor);
  }
  return found.slice(0, page.limit);
}

/** The same for a page that people read: its items, and where the next one is. `path` is the page's own, where a refused
 *  form shows it again at another. */
export function shownPage<T extends { readonly id: string }>(
  c: Context,
  page: Page,
  found: readonly T[],
  filter: unknown,
  path = c.req.path,
): { readonly rows: readonly T[]; readonly next: string | null } {
  const cursor = nextCursor(c, page, found, { path, filter });
  return { rows: found.slice(0, page.limit), next: cursor && nextAddress(c, path, cursor) };
}

function nextCursor(
  c: Context,
  { limit }: Page,
  found: readonly { readonly id: string }[],
  listed: Listed,
): string | null {
  const last = found[limit - 1];
  if (found.length <= limit || !last) return null;
  return Buffer.from(`${last.id} ${sealOf(c, last.id, listed)}`).toString("base64url");
}

/** The list's path and this request's query, with the cursor. */
function nextAddress(c: Context, path: string, cursor: string): string {
  const query = new URLSearchParams({ ...c.req.query(), cursor });
  return `${path}?${query}`;
}

function sealOf(c: Context, id: string, { path, filter }: Listed): string {
  const about = stableHash([c.var.merchant.merchantId, path, filter]);
  return createHmac("sha256", c.var.edge.cursorKey).update(`${id} ${about}`).digest("base64url").slice(0, 22);
}
