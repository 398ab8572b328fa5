import { eq, type SQL, sql } from "drizzle-orm";
import type { Tx } from "#store";
import { registrableDomain } from "./domain.ts";
import { looksOf } from "./looks.ts";
import type { Payable } from "./payable.ts";
import { resourceType } from "./resource-type.ts";
import { restand } from "./standing.ts";
import { listing } from "./tables.ts";
import { mark, places, wordsOf } from "./words.ts";

/** Shows a payable in the discovery indexes, or takes it out, as its row says. */
export async function indexPayable(tx: Tx, item: Payable, isNew: boolean): Promise<void> {
  if (item.listed && item.closedAt === null) return show(tx, item);
  if (!isNew) await tx.delete(listing).where(eq(listing.id, item.id));
}

async function show(tx: Tx, item: Payable): Promise<void> {
  const { id, standing, hostVerified, ...changing } = listingRow(item);
  await tx
    .insert(listing)
    .values({ id, standing, hostVerified, ...changing })
    .onConflictDoUpdate({ target: listing.id, set: changing });
  await restand(tx, [id]);
}

/** Marks what is called as a tool, among the keys of its extensions. */
export const MCP = "mcp";

/** The row of a payable about which nothing is known yet. */
export function listingRow(item: Payable) {
  const names = [item.merchantName, item.serviceName ?? ""].map(looksOf).filter((name) => name !== "");
  return {
    id: item.id,
    kind: item.kind,
    once: item.once,
    merchantId: item.merchantId,
    domain: registrableDomain(item.url),
    looks: [...new Set(names)],
    words: lexemes(item) as SQL<string>,
    priceAmount: item.price.amount,
    priceAsset: item.price.asset,
    rails: item.rails.map(({ chain, asset }) => `${chain} ${asset}`),
    extensions: [...Object.keys(item.extensions), ...(resourceType(item) === "mcp" ? [MCP] : [])],
    standing: 0,
    hostVerified: false,
    expiresAt: item.expiresAt ?? null,
    createdAt: item.createdAt,
  };
}

/** Every word marked with its place, so that the index itself tells a word of the path from one of the description. */
function lexemes(item: Payable): SQL {
  const words = wordsOf(item);
  const marks = sql.param(places.map(mark));
  const texts = sql.param(places.map((place) => words[place]));
  return sql`array_to_tsvector(ARRAY(SELECT DISTINCT place.mark || lexeme
    FROM unnest(${marks}::text[], ${texts}::text[]) AS place(mark, body),
      unnest(tsvector_to_array(to_tsvector('english', place.body))) AS lexeme))`;
}
