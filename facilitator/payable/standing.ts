import { type SQL, sql } from "drizzle-orm";
import type { Tx } from "#store";
import { listing, payableTrust } from "./tables.ts";

/** At least this: the last probe was good, and nothing has changed behind the merchant's back. */
export const LIVE = 1_000;
const PAYERS = 10;

/** The facts a merchant cannot write, in the order of their weight: last probe good, then paying wallets (each doubling
 *  is one step), then host verified. What lives at our own URL needs no probe. Source: agents.md §6.5. */
const standing: SQL = sql`(CASE WHEN l.kind <> 'resource' OR (t.probe_ok AND t.warning IS NULL) THEN ${sql.raw(String(LIVE))} ELSE 0 END
  + ${sql.raw(String(PAYERS))} * floor(log(2, 1 + coalesce(t.distinct_payers, 0)))::int
  + coalesce(t.host_verified, false)::int)::smallint`;

/** Brings the ranking up to what is known of these payables; those that are not listed have none. */
export async function restand(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.execute(sql`UPDATE ${listing} SET standing = now.standing, host_verified = now.host_verified
    FROM (SELECT l.id, ${standing} AS standing, coalesce(t.host_verified, false) AS host_verified
          FROM ${listing} l LEFT JOIN ${payableTrust} t ON t.payable_id = l.id
          WHERE l.id = ANY(${sql.param([...ids])}) ORDER BY l.id) AS now
    WHERE ${listing.id} = now.id
      AND (${listing.standing}, ${listing.hostVerified}) IS DISTINCT FROM (now.standing, now.host_verified)`);
}
