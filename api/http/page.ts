import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { stableHash } from "#kernel/codec";
import { fault } from "./faults.ts";

const LIMIT = 100;
const MAX_LIMIT = 200;

/** Query of every list under `/v1`. */
export const PageQuery = z.object({
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

/** The page that is asked for. `filter` is everything else that the list depends on: a cursor belongs to one filter.
 *  Fault: `invalid_cursor`. */
export function readPage(c: Context, { limit = LIMIT, cursor }: PageQuery, filter: unknown): Page {
  if (cursor === undefined) return { limit, after: null };
  const [id = "", seal = ""] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  const expected = Buffer.from(sealOf(c, id, filter));
  const sent = Buffer.from(seal);
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) throw fault("invalid_cursor");
  return { limit, after: id };
}

/** `Link` and `Next-Cursor`, where there is more. Ask the database for `limit + 1` items to know. */
export function pageOf<T extends { readonly id: string }>(
  c: Context,
  { limit }: Page,
  found: readonly T[],
  filter: unknown,
): readonly T[] {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length > limit && last) {
    const cursor = Buffer.from(`${last.id} ${sealOf(c, last.id, filter)}`).toString("base64url");
    const next = new URL(c.req.path, c.var.edge.baseUrl);
    for (const [name, value] of Object.entries(c.req.query())) next.searchParams.set(name, value);
    next.searchParams.set("cursor", cursor);
    c.header("Link", `<${next.href}>; rel="next"`);
    c.header("Next-Cursor", cursor);
  }
  return items;
}

function sealOf(c: Context, id: string, filter: unknown): string {
  const about = stableHash([c.var.merchant.merchantId, c.req.path, filter]);
  return createHmac("sha256", c.var.edge.cursorKey).update(`${id} ${about}`).digest("base64url").slice(0, 22);
}
