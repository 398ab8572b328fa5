import { and, eq, gte, inArray, lte, ne, not, notInArray, or, type SQL, sql } from "drizzle-orm";
import { pegs, priceDecimals } from "#kernel/asset";
import { canonicalJson } from "#kernel/codec";
import { gate } from "#kernel/gate";
import type { Database } from "#store";
import { findPayables } from "./find.ts";
import { MCP } from "./listing.ts";
import type { Payable, PayableKind } from "./payable.ts";
import { pageOf } from "./rank.ts";
import type { OfferedRail } from "./requirements.ts";
import type { ResourceType } from "./resource-type.ts";
import { bestMatches, countMatches, lexemesOf, rankAll, type Search } from "./search.ts";
import { LIVE } from "./standing.ts";
import { listing, payable } from "./tables.ts";
import { countEachTime, type Totals } from "./totals.ts";
import { readTrust, type Trust } from "./trust.ts";

export interface DiscoverFilter {
  readonly kinds: readonly PayableKind[];
  readonly type?: ResourceType | undefined;
  /** CAIP-2, or the slug of a chain. As all words of a filter in any capitals. */
  readonly network?: string | undefined;
  /** A symbol, or a token contract. */
  readonly asset?: string | undefined;
  readonly payTo?: string | undefined;
  readonly scheme?: string | undefined;
  readonly extension?: string | undefined;
  /** What it is priced in: a currency, or a stablecoin. */
  readonly currency?: string | undefined;
  /** Highest price, at the decimals of a USD price. */
  readonly maxUsdPrice?: bigint | undefined;
  /** Only what answered its last probe well. */
  readonly live?: boolean | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  /** `page`: `total` tells no more than whether another page follows; counting all of a large index takes its time. */
  readonly count?: "all" | "page" | undefined;
}
export interface Discovered {
  readonly item: Payable;
  readonly trust: Trust;
}

/** `searchDb` for which payables match, `db` for their rows by id. */
export interface Index {
  readonly db: Database;
  readonly searchDb: Database;
  /** What has ended by then is not shown. */
  readonly now: Date;
}

const EVERYWHERE = ["payment-identifier"];
/** Matches read for each one asked for, to begin with: room for domains that have many. */
const READ_AHEAD = 1.5;
const MORE = 6;
/** Beyond that, a search would hold the process up. */
const MOST_READ = 2_000;

/** Listed, open payables that can be paid on at least one of `rails`, and how many there are under the same filter.
 *  Order: text match (path, title, tags, anywhere), last probe, paying wallets, host verified, age, id; what a domain
 *  has beyond its third place comes last. Published in docs/reference/ranking.md. */
export async function discoverPayables(
  { db, searchDb, now }: Index,
  rails: readonly OfferedRail[],
  filter: DiscoverFilter,
  totals: Totals = countEachTime,
): Promise<{ readonly items: readonly Discovered[]; readonly total: number }> {
  const payableOn = or(
    onRails(rails.filter((offered) => matchesRail(offered, filter))),
    atRate(rails, filter),
  );
  const lexemes = filter.query === undefined ? null : await lexemesOf(searchDb, filter.query);
  const isOtherScheme = filter.scheme !== undefined && !isAlike(filter.scheme, "exact");
  const isEmpty = filter.kinds.length === 0 || isOtherScheme || !payableOn;
  // A query without a word that could be looked for finds nothing; it does not mean everything.
  if (isEmpty || lexemes?.length === 0) return { items: [], total: 0 };
  const where = and(payableOn, ...conditions(filter, now));
  const { ids, search, total, isExact } = await findPage(searchDb, { where, lexemes }, filter);
  const [items, counted] = await Promise.all([
    load(db, ids),
    isExact || filter.count === "page" ? total : totals(nameOf(filter), () => countMatches(searchDb, search)),
  ]);
  return { items, total: counted };
}

/** The same for all pages of one search. */
function nameOf({ limit: _, offset: __, count: ___, ...filter }: DiscoverFilter): string {
  return canonicalJson(filter);
}

function conditions(filter: DiscoverFilter, now: Date): (SQL | undefined)[] {
  const { kinds, type, currency, extension, maxUsdPrice, live } = filter;
  return [
    inArray(listing.kind, [...kinds]),
    sql`(${listing.expiresAt} IS NULL OR ${listing.expiresAt} > ${now.toISOString()})`,
    // What can be paid once and is being paid, or was, is no longer payable.
    kinds.every((kind) => kind === "resource") ? undefined : sql`(NOT ${listing.once} OR ${isNotHeld})`,
    type === undefined ? undefined : type === "mcp" ? isTool : sql`NOT (${isTool})`,
    currency === undefined ? undefined : eq(listing.priceAsset, currency.toUpperCase()),
    extension === undefined || EVERYWHERE.includes(extension)
      ? undefined
      : sql`${listing.extensions} @> ${sql.param([extension])}::text[]`,
    maxUsdPrice === undefined ? undefined : costsAtMost(maxUsdPrice),
    live === true ? gte(listing.standing, LIVE) : undefined,
  ];
}

const isTool = sql`${listing.extensions} @> ${sql.param([MCP])}::text[]`;
const isNotHeld = sql`EXISTS (SELECT 1 FROM ${payable} WHERE ${payable.id} = ${listing.id} AND ${payable.heldBy} IS NULL AND ${payable.heldFor} IS NULL)`;

/** Words are looked for whole; only where nothing holds them all so, as the beginnings of words. */
async function findPage(
  db: Database,
  { where, lexemes }: { readonly where: SQL | undefined; readonly lexemes: readonly string[] | null },
  page: DiscoverFilter,
): Promise<Page> {
  if (lexemes === null) return readPage(db, { where, words: null }, page);
  const whole = await readPage(db, { where, words: { lexemes, as: "whole" } }, page);
  return whole.total > 0 ? whole : readPage(db, { where, words: { lexemes, as: "beginning" } }, page);
}

interface Page {
  readonly ids: readonly string[];
  readonly search: Search;
  readonly total: number;
  readonly isExact: boolean;
}

/** Reads the best matches until the page is known: more only where a few domains have most of them. A page far down is
 *  left to the database. */
async function readPage(db: Database, search: Search, { offset, limit }: DiscoverFilter): Promise<Page> {
  for (let count = Math.ceil(READ_AHEAD * (offset + limit + 1)); count <= MOST_READ; count *= MORE) {
    const { ranked, isAll, total } = await bestMatches(db, search, count);
    const ids = pageOf(ranked, { offset, limit: limit + 1, isAll });
    if (ids)
      return {
        ids: ids.slice(0, limit),
        search,
        total: total ?? offset + ids.length,
        isExact: total !== null,
      };
  }
  const ids = await farPages.enter(() => rankAll(db, search, { offset, limit: limit + 1 }));
  // Nothing there may mean that the matches end before, or that there are none.
  if (ids.length === 0) return { ids, search, total: await countMatches(db, search), isExact: true };
  return { ids: ids.slice(0, limit), search, total: offset + ids.length, isExact: ids.length <= limit };
}

/** The database has all matches to rank for each: those who ask for what lies near wait for none of them. */
const farPages = gate(1);

async function load(db: Database, ids: readonly string[]): Promise<readonly Discovered[]> {
  const [found, trust] = await Promise.all([
    findPayables(
      db.pool,
      ids.map((id) => ({ by: "id", id })),
    ),
    readTrust(db.pool, ids),
  ]);
  return found.flatMap((item, i) => {
    const facts = trust[i];
    // Taken off the index since it was found.
    return item?.listed && item.closedAt === null && facts ? [{ item, trust: facts }] : [];
  });
}

function matchesRail({ chain, rail }: OfferedRail, { network, asset, payTo }: DiscoverFilter): boolean {
  if (network !== undefined && !isAlike(network, chain.network) && !isAlike(network, chain.slug))
    return false;
  if (payTo !== undefined && !isAlike(payTo, chain.treasury)) return false;
  return asset === undefined || isAlike(asset, rail.token.symbol) || isAlike(asset, rail.token.contract);
}

/** But for capitals. */
function isAlike(asked: string, ours: string): boolean {
  return asked.toLowerCase() === ours.toLowerCase();
}

/** True of a row that is offered on at least one of these rails: the rule of `optionsOf`, as SQL. Rails of one pricing
 *  unit and one least price are asked for together. */
function onRails(rails: readonly OfferedRail[]): SQL | undefined {
  const groups = new Map<string, { unit: string; least: string; keys: string[] }>();
  for (const offered of rails) {
    const { chain, rail } = offered;
    const { symbol, decimals } = rail.token;
    for (const unit of pricingUnits(symbol)) {
      const least = leastPrice(chain.dustFloor, unit, decimals);
      const group = groups.get(`${unit} ${least}`) ?? { unit, least, keys: [] };
      group.keys.push(keyOf(offered));
      groups.set(`${unit} ${least}`, group);
    }
  }
  return or(
    ...[...groups.values()].map(({ unit, least, keys }) =>
      and(
        eq(listing.priceAsset, unit),
        sql`${listing.priceAmount} >= ${least}::numeric`,
        or(isAllowedAll, isAllowed(keys)),
      ),
    ),
  );
}

/** True of what none of its rails is at parity with, and one of them works: an intent at a locked rate pays it. Which coin
 *  that will be is not known before, so whoever looks for one is not shown it; resources are never priced so. */
function atRate(rails: readonly OfferedRail[], filter: DiscoverFilter): SQL | undefined {
  const { kinds, network, asset, payTo } = filter;
  const asksForRail = [network, asset, payTo].some((word) => word !== undefined);
  if (rails.length === 0 || asksForRail || kinds.every((kind) => kind === "resource")) return undefined;
  const byUnit = keysByUnit(rails);
  const isOffPar = [...byUnit].map(([unit, keys]) =>
    and(eq(listing.priceAsset, unit), not(isAllowedAll), not(isAllowed(keys))),
  );
  return and(
    ne(listing.kind, "resource"),
    or(isAllowedAll, isAllowed(rails.map(keyOf))),
    or(notInArray(listing.priceAsset, [...byUnit.keys()]), ...isOffPar),
  );
}

/** The rails at parity with each unit, as a listing names them. */
function keysByUnit(rails: readonly OfferedRail[]): ReadonlyMap<string, readonly string[]> {
  const byUnit = new Map<string, string[]>();
  for (const offered of rails)
    for (const unit of pricingUnits(offered.rail.token.symbol))
      byUnit.set(unit, [...(byUnit.get(unit) ?? []), keyOf(offered)]);
  return byUnit;
}

function keyOf({ chain, rail }: OfferedRail): string {
  return `${chain.slug} ${rail.token.symbol}`;
}

const isAllowedAll = sql`${listing.rails} = '{}'`;
const isAllowed = (keys: readonly string[]) => sql`${listing.rails} && ${sql.param(keys)}::text[]`;

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

function costsAtMost(usd: bigint): SQL | undefined {
  const dollars = Object.keys(priceDecimals).filter((unit) => unit === "USD" || pegOf(unit) === "USD");
  return and(inArray(listing.priceAsset, dollars), lte(listing.priceAmount, usd));
}
