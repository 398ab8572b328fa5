import { and, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Clock } from "#kernel/clock";
import { type Database, fixed } from "#store";
import type { Edge } from "../http/context.ts";
import { entriesFor } from "../http/origin.ts";
import { apiKey, merchant } from "./tables.ts";

const CACHE_MS = 5_000;
const CACHE_SIZE = 10_000;

/** Whether some publishable key that is good may be used by a page of this origin. On a sandbox the key alone decides. */
export function createOriginBook({
  db,
  clock,
  isSandbox,
}: {
  readonly db: Database;
  readonly clock: Clock;
  readonly isSandbox: boolean;
}): Edge["isKnownOrigin"] {
  const cache = new Map<string, { readonly isKnown: boolean; readonly untilMs: number }>();
  return async (origin) => {
    if (isSandbox) return true;
    const known = cache.get(origin);
    if (known && known.untilMs > clock.monotonicMs()) return known.isKnown;
    const isKnown = await look(db, origin, clock.now());
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(origin, { isKnown, untilMs: clock.monotonicMs() + CACHE_MS });
    return isKnown;
  };
}

/** Two statements rather than one with OR: each reads the index of its own list. */
async function look({ pool }: Database, origin: string, now: Date): Promise<boolean> {
  const entries = sql`${sql.param([...entriesFor(origin)])}::text[]`;
  const lists = (list: SQL): SQL => sql`${list} ?| ${entries}`;
  const isGood = and(
    fixed(eq(apiKey.kind, "pk")),
    or(isNull(apiKey.revokedAt), gt(apiKey.revokedAt, now)),
    or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
  );
  const [listed] = await pool
    .select({ id: apiKey.id })
    .from(apiKey)
    .where(and(isGood, lists(sql`${apiKey.allowedOrigins}`)))
    .limit(1);
  if (listed) return true;
  const [inherited] = await pool
    .select({ id: apiKey.id })
    .from(apiKey)
    .innerJoin(merchant, eq(merchant.id, apiKey.merchantId))
    .where(and(isGood, isNull(apiKey.allowedOrigins), lists(sql`${merchant.allowedOrigins}`)))
    .limit(1);
  return inherited !== undefined;
}
