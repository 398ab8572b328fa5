import { sql } from "drizzle-orm";
import { registrableDomain } from "#facilitator";
import type { Database } from "#store";
import { probedDomain } from "./tables.ts";

/** One probe of a domain a second, and this many at once: no listing can aim the house at a victim. */
const BURST = 20;

/** Takes one probe of a URL's domain off its allowance, fleet-wide. Null when it may be made now, else the seconds to
 *  wait. Source: security.md §6. */
export async function spendProbe(db: Database, url: string): Promise<number | null> {
  const domain = registrableDomain(url);
  const { rows } = await db.pool.execute(sql`
    INSERT INTO ${probedDomain} AS p (domain, spent_until) VALUES (${domain}, now() + interval '1 second')
    ON CONFLICT (domain) DO UPDATE SET spent_until = greatest(p.spent_until, now()) + interval '1 second'
      WHERE p.spent_until <= now() + ${`${BURST - 1} seconds`}::interval
    RETURNING domain`);
  if (rows.length > 0) return null;
  const { rows: waits } = await db.pool.execute<{ seconds: string }>(sql`
    SELECT ceil(extract(epoch FROM spent_until - now()) - ${BURST - 1}) AS seconds FROM ${probedDomain} WHERE domain = ${domain}`);
  return Math.max(1, Number(waits[0]?.seconds ?? 1));
}

/** Forgets domains that have their whole allowance again. */
export async function forgetDomains(db: Database): Promise<void> {
  await db.pool.execute(sql`DELETE FROM ${probedDomain} WHERE spent_until < now() - interval '1 hour'`);
}
