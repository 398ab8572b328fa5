import { z } from "@hono/zod-openapi";
import type { DiscoverQuery, Facilitator, ResourceType } from "#facilitator";
import { priceDecimals } from "#kernel/asset";
import { parseDecimal } from "#kernel/money";
import { fault, invalid } from "../http/faults.ts";
import { presentItem } from "./present.ts";
import type { DiscoveryItem } from "./schema.ts";

const LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;

const filters = {
  type: z.string().optional().openapi({ description: "`http` or `mcp`; nothing else is listed" }),
  network: z.string().max(64).optional().openapi({ description: "CAIP-2; as all words, in any capitals" }),
  asset: z.string().max(64).optional().openapi({ description: "A symbol or a token contract" }),
  payTo: z.string().max(64).optional(),
  scheme: z.string().max(64).optional(),
  extensions: z.string().max(64).optional().openapi({ description: "Key of an extension, such as bazaar" }),
  maxUsdPrice: z
    .string()
    .max(40)
    .optional()
    .openapi({ description: "Decimal dollars; leaves out other currencies" }),
  query: z.string().max(400).optional(),
  live: z
    .string()
    .refine((text) => text === "true" || text === "false", "true or false")
    .optional()
    .openapi({ type: "boolean", description: "`true`: only what answered its last probe as registered" }),
  limit: z
    .string()
    .max(20)
    .optional()
    .openapi({ type: "integer", minimum: 1, maximum: MAX_LIMIT, default: LIMIT }),
  cursor: z.string().max(40).optional(),
};

/** What may be asked of the index. Unknown parameters are ignored, a limit out of range is clamped. */
export const DiscoveryQuery = z.object({
  ...filters,
  offset: z.string().max(20).optional().openapi({ type: "integer", minimum: 0 }),
});
export const SearchQuery = z.object(filters);
export type DiscoveryQuery = z.infer<typeof DiscoveryQuery>;

export interface DiscoveryPage {
  readonly items: DiscoveryItem[];
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

const types = ["http", "mcp"] as const satisfies readonly ResourceType[];

/** A page of what is listed. Faults: `validation_failed` for a number that is none, `invalid_cursor`. */
export async function discover(
  facilitator: Pick<Facilitator, "discover">,
  baseUrl: string,
  query: DiscoveryQuery,
  extra: Pick<DiscoverQuery, "count"> = {},
): Promise<DiscoveryPage> {
  const place = readPlace(query);
  const type = types.find((each) => each === query.type);
  const found =
    query.type === undefined || type
      ? await facilitator.discover({
          kinds: ["resource"],
          ...(type && { type }),
          ...readFilter(query),
          ...place,
          ...extra,
        })
      : { items: [], total: 0 };
  return { items: found.items.map((item) => presentItem(item, baseUrl)), ...pageOf(place, found) };
}

/** Where a page begins, and how long it may be. */
export interface Place {
  readonly limit: number;
  readonly offset: number;
}

/** Faults: `validation_failed` for a number that is none, `invalid_cursor`. */
export function readPlace({
  limit,
  offset,
  cursor,
}: Pick<DiscoveryQuery, "limit" | "offset" | "cursor">): Place {
  const given = clamped("offset", offset, { from: 0, to: MAX_OFFSET, otherwise: 0 });
  return {
    limit: clamped("limit", limit, { from: 1, to: MAX_LIMIT, otherwise: LIMIT }),
    offset: cursor === undefined ? given : readCursor(cursor),
  };
}

/** What is said of the page that was found there. */
export function pageOf(
  { limit, offset }: Place,
  { items, total }: { readonly items: readonly unknown[]; readonly total: number },
): Omit<DiscoveryPage, "items"> {
  const end = offset + items.length;
  const isLast = items.length === 0 || end >= total;
  return {
    limit,
    offset,
    total,
    cursor: isLast ? null : Buffer.from(`at ${end}`).toString("base64url"),
  };
}

export function readFilter(query: DiscoveryQuery): Omit<DiscoverQuery, "kinds" | "limit" | "offset"> {
  const { network, asset, payTo, scheme, extensions: extension } = query;
  const words = query.query?.trim() || undefined;
  const maxUsdPrice = query.maxUsdPrice === undefined ? undefined : dollars(query.maxUsdPrice);
  const live = query.live === "true" || undefined;
  const all = { live, network, asset, payTo, scheme, extension, query: words, maxUsdPrice };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function dollars(text: string): bigint {
  const amount = parseDecimal(text, priceDecimals.USD ?? 0);
  if (typeof amount !== "bigint")
    throw invalid("/query/maxUsdPrice", "a decimal number of dollars, such as 0.05");
  return amount;
}

function clamped(
  name: string,
  text: string | undefined,
  { from, to, otherwise }: { readonly from: number; readonly to: number; readonly otherwise: number },
): number {
  if (text === undefined) return otherwise;
  if (!/^-?\d+$/.test(text)) throw fault("number_expected", { name, from, to, pointer: `/query/${name}` });
  return Math.min(to, Math.max(from, Number(text)));
}

function readCursor(cursor: string): number {
  const [, at] = /^at (\d{1,7})$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  if (at === undefined) throw fault("invalid_cursor");
  return Math.min(MAX_OFFSET, Number(at));
}
