import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "#store";
import { IN_FRONT, type Ranked } from "./rank.ts";
import { listing } from "./tables.ts";
import { allIn, places, plainWords, type WordPlace } from "./words.ts";

export interface Search {
  readonly where: SQL | undefined;
  /** Null: every row that passes the filter is a match. */
  readonly words: Words | null;
}
interface Words {
  readonly lexemes: readonly string[];
  readonly as: "whole" | "beginning";
}

/** The first matches by rank: as many as were asked for, where there are so many. */
export interface Best {
  readonly ranked: readonly Ranked[];
  readonly isAll: boolean;
  /** Null where they were not counted on the way. */
  readonly total: number | null;
}

/** Word for word the index `listing_rank`, or it would not be used. */
const order = sql`standing DESC NULLS LAST, created_at, id`;
/** Up to so many rows are fetched by their words and sorted; of more, the best are soon met on the way down the ranking.
 *  Which of both is shorter the planner knows of one word; of several it cannot, since words come or do not come
 *  together. */
const FEW = 1_000;

/** Words as the text search of the database knows them: without endings, and without those that say nothing. */
export async function lexemesOf(db: Database, query: string): Promise<readonly string[]> {
  const { rows } = await db.pool.execute<{ lexemes: string[] }>(
    sql`SELECT tsvector_to_array(to_tsvector('english', ${plainWords(query)})) AS lexemes`,
  );
  return rows[0]?.lexemes ?? [];
}

/** The best `count` matches, or all of them. What is found in the path stands before what is found in a title, and so
 *  on; inside a place the facts decide. */
export async function bestMatches(db: Database, { where, words }: Search, count: number): Promise<Best> {
  if (words?.lexemes.length === 1) return bestOfMany(db, { where, words }, count);
  if (words) return bestOfSeveral(db, { where, words }, count);
  const ranked = await byRank(db, where, count);
  const isAll = ranked.length < count;
  return { ranked, isAll, total: isAll ? ranked.length : null };
}

/** The page at `offset` of all matches, as `pageOf` has it; every one of them is ranked for it. */
export async function rankAll(
  db: Database,
  { where, words }: Search,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.pool.execute<{ id: string }>(sql`
    SELECT id FROM (
      SELECT id, standing, created_at, place, row_number() OVER (PARTITION BY domain ORDER BY place, ${order}) > ${IN_FRONT} AS is_behind
      FROM (SELECT id, domain, standing, created_at, ${words ? placeOf(words) : sql`0`} AS place FROM ${listing}
        WHERE ${and(where, words ? holds("anywhere", words) : undefined)}) AS matches
    ) AS ranked ORDER BY is_behind, place, ${order} OFFSET ${offset} LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

export async function countMatches(db: Database, { where, words }: Search): Promise<number> {
  const { rows } = await db.pool.execute<{ total: string }>(
    sql`SELECT count(*) AS total FROM ${listing} WHERE ${and(where, words ? holds("anywhere", words) : undefined)}`,
  );
  return Number(rows[0]?.total ?? 0);
}

interface WordSearch {
  readonly where: SQL | undefined;
  readonly words: Words;
}

/** The best place may fill the page, and is soon asked: of the other places it takes longer to learn that they are many. */
async function bestOfSeveral(db: Database, search: WordSearch, count: number): Promise<Best> {
  const { where, words } = search;
  const inBest = await byWords(db, { held: holds(places[0], words), where, by: order, count });
  if (inBest?.ranked.length === count) return { ranked: inBest.ranked, isAll: false, total: null };
  return (inBest && (await bestOfFew(db, search, count))) ?? bestOfMany(db, search, count);
}

/** All places at once. Null when more than a few hold the words. */
async function bestOfFew(db: Database, { where, words }: WordSearch, count: number): Promise<Best | null> {
  const by = sql`${placeOf(words)}, ${order}`;
  const found = await byWords(db, { held: holds("anywhere", words), where, by, count });
  return found && { ...found, isAll: found.total < count };
}

/** The best place that holds the words, by its number. */
function placeOf(words: Words): SQL {
  const arms = places.map((place, i) => sql`WHEN ${holds(place, words)} THEN ${sql.raw(String(i))}`);
  return sql`CASE ${sql.join(arms, sql` `)} END`;
}

/** Each place by itself, the best first: a word which many have in their description then costs no more than the page
 *  that is shown. */
async function bestOfMany(db: Database, { where, words }: WordSearch, count: number): Promise<Best> {
  const ranked = new Map<string, Ranked>();
  for (const place of places) {
    const held = holds(place, words);
    // What was found in a better place is found again in this one.
    const most = count + ranked.size;
    const isKnownToBeMany = words.lexemes.length === 1 || place === "anywhere";
    const few = isKnownToBeMany ? null : await byWords(db, { held, where, by: order, count: most });
    const rows = few?.ranked ?? (await byRank(db, and(where, held), most));
    for (const { id, domain } of rows) if (!ranked.has(id)) ranked.set(id, { id, domain });
    // More may stand in this place, ahead of everything in the next.
    if (rows.length === most) return { ranked: [...ranked.values()], isAll: false, total: null };
  }
  return { ranked: [...ranked.values()], isAll: true, total: ranked.size };
}

interface ByWords {
  readonly held: SQL;
  readonly where: SQL | undefined;
  readonly by: SQL;
  readonly count: number;
}

/** Null when more than a few rows hold the words, whatever the filter leaves of them. */
async function byWords(
  db: Database,
  { held, where, by, count }: ByWords,
): Promise<{ readonly ranked: readonly Ranked[]; readonly total: number } | null> {
  const { rows } = await db.pool.execute<{
    held: string;
    id: string | null;
    domain: string;
    total: string;
  }>(sql`
    WITH held AS MATERIALIZED (
      SELECT id, kind, once, domain, words, price_amount, price_asset, rails, extensions, standing, expires_at, created_at
      FROM ${listing} WHERE ${held} LIMIT ${FEW + 1})
    SELECT (SELECT count(*) FROM held) AS held, id, domain, total
    FROM (VALUES (1)) AS always LEFT JOIN (
      SELECT id, domain, count(*) OVER () AS total, row_number() OVER (ORDER BY ${by}) AS place
      FROM held AS ${listing} WHERE ${and(sql`(SELECT count(*) FROM held) <= ${FEW}`, where)}
      ORDER BY place LIMIT ${count}) AS page ON true
    ORDER BY place`);
  if (Number(rows[0]?.held) > FEW) return null;
  const ranked = rows.flatMap(({ id, domain }) => (id === null ? [] : [{ id, domain }]));
  return { ranked, total: Number(rows[0]?.total ?? 0) };
}

async function byRank(db: Database, where: SQL | undefined, count: number): Promise<readonly Ranked[]> {
  const { rows } = await db.pool.execute<{ id: string; domain: string }>(
    sql`SELECT id, domain FROM ${listing} WHERE ${where} ORDER BY ${order} LIMIT ${count}`,
  );
  return rows;
}

function holds(place: WordPlace, { lexemes, as }: Words): SQL {
  return sql`${listing.words} @@ ${allIn(place, lexemes, as)}::tsquery`;
}
