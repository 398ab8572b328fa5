import { and, asc, count, eq, ilike, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { pegs, priceDecimals } from "#kernel/asset";
import { parseAddress } from "#kernel/bytes";
import type { Database } from "#store";
import type { Payable, PayableKind } from "./payable.ts";
import type { OfferedRail } from "./requirements.ts";
import { fromRow } from "./row.ts";
import { payable } from "./tables.ts";

export interface DiscoverFilter {
  readonly kinds: readonly PayableKind[];
  readonly network?: string | undefined;
  /** A symbol, or a token contract in any case. */
  readonly asset?: string | undefined;
  readonly payTo?: string | undefined;
  readonly scheme?: string | undefined;
  readonly extension?: string | undefined;
  /** What it is priced in: a currency, or a stablecoin. */
  readonly currency?: string | undefined;
  /** Highest price, at the decimals of a USD price. */
  readonly maxUsdPrice?: bigint | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

const MAX_WORDS = 8;
const EVERYWHERE = ["payment-identifier"];

/** Listed, open payables that can be paid on at least one of `rails`, and how many there are under the same filter.
 *  Order: text match (address, title, tags, the rest), then the age of the listing, then the id. */
export async function discoverPayables(
  db: Database,
  rails: readonly OfferedRail[],
  filter: DiscoverFilter,
): Promise<{ readonly items: readonly Payable[]; readonly total: number }> {
  const payableOn = onRails(rails.filter((offered) => matchesRail(offered, filter)));
  const nothing = filter.kinds.length === 0 || (filter.scheme ?? "exact") !== "exact" || !payableOn;
  if (nothing) return { items: [], total: 0 };
  const words = (filter.query ?? "").split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  const where = and(
    // The words of the partial index `payable_listed`; a parameter in place of TRUE would not match it.
    sql`${payable.listed}`,
    isNull(payable.closedAt),
    // What can be paid once and is being paid, or was, is no longer payable.
    isNull(payable.heldBy),
    sql`(${payable.expiresAt} IS NULL OR ${payable.expiresAt} > now())`,
    filter.currency === undefined ? undefined : eq(payable.priceAsset, filter.currency),
    inArray(payable.kind, [...filter.kinds]),
    payableOn,
    ...words.map(holdsWord),
    offersExtension(filter.extension),
    filter.maxUsdPrice === undefined ? undefined : costsAtMost(filter.maxUsdPrice),
  );
  const [rows, [counted]] = await Promise.all([
    db.pool
      .select()
      .from(payable)
      .where(where)
      .orderBy(...textRank(words), asc(payable.createdAt), asc(payable.id))
      .limit(filter.limit)
      .offset(filter.offset),
    db.pool.select({ total: count() }).from(payable).where(where),
  ]);
  return { items: rows.map(fromRow), total: counted?.total ?? 0 };
}

function matchesRail({ chain, rail }: OfferedRail, { network, asset, payTo }: DiscoverFilter): boolean {
  if (network !== undefined && network !== chain.network && network !== chain.slug) return false;
  if (payTo !== undefined && parseAddress(payTo) !== chain.treasury) return false;
  return asset === undefined || asset === rail.token.symbol || parseAddress(asset) === rail.token.contract;
}

/** True of a row that is offered on at least one of these rails: the rule of `optionsOf`, as SQL. */
function onRails(rails: readonly OfferedRail[]): SQL | undefined {
  return or(
    ...rails.map(({ chain, rail }) => {
      const { symbol, decimals } = rail.token;
      const prices = pricingUnits(symbol).map((unit) =>
        and(
          eq(payable.priceAsset, unit),
          sql`${payable.priceAmount} >= ${leastPrice(chain.dustFloor, unit, decimals)}`,
        ),
      );
      const one = JSON.stringify([{ chain: chain.slug, asset: symbol }]);
      return and(or(...prices), sql`(${payable.rails} = '[]'::jsonb OR ${payable.rails} @> ${one}::jsonb)`);
    }),
  );
}

function pricingUnits(symbol: string): string[] {
  return Object.keys(priceDecimals).filter((unit) => unit === symbol || pegOf(symbol) === unit);
}

function pegOf(symbol: string): string | undefined {
  return (pegs as Readonly<Record<string, string>>)[symbol];
}

/** The least price in `unit` that is still `floor` atomic units of the token when rounded up. */
function leastPrice(floor: bigint, unit: string, tokenDecimals: number): string {
  if (floor <= 1n) return "1";
  const scale = 10n ** BigInt(priceDecimals[unit] ?? 0);
  return (((floor - 1n) * scale) / 10n ** BigInt(tokenDecimals) + 1n).toString();
}

function holdsWord(word: string): SQL | undefined {
  const pattern = containing(word);
  return or(
    ilike(payable.url, pattern),
    ilike(payable.title, pattern),
    ilike(payable.serviceName, pattern),
    ilike(payable.description, pattern),
    sql`${payable.tags}::text ILIKE ${pattern}`,
  );
}

function textRank(words: readonly string[]): SQL[] {
  if (words.length === 0) return [];
  const all = (column: SQL) =>
    sql.join(
      words.map((word) => sql`${column} ILIKE ${containing(word)}`),
      sql` AND `,
    );
  return [
    sql`CASE WHEN ${all(sql`${payable.url}`)} THEN 0
      WHEN ${all(sql`coalesce(${payable.title}, ${payable.serviceName}, '')`)} THEN 1
      WHEN ${all(sql`${payable.tags}::text`)} THEN 2 ELSE 3 END`,
  ];
}

function containing(word: string): string {
  return `%${word.replace(/[\\%_]/g, "\\$&")}%`;
}

function offersExtension(key: string | undefined): SQL | undefined {
  if (key === undefined || EVERYWHERE.includes(key)) return undefined;
  // `?` would be read as a placeholder by some drivers; the function behind it says the same.
  return sql`jsonb_exists(${payable.extensions}, ${key})`;
}

function costsAtMost(usd: bigint): SQL | undefined {
  const dollars = Object.keys(priceDecimals).filter((unit) => unit === "USD" || pegOf(unit) === "USD");
  return and(inArray(payable.priceAsset, dollars), lte(payable.priceAmount, usd));
}
