import { sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import type { Engine } from "../engine.ts";

/** Whom a transfer to an order's own address concerns. */
export interface Told {
  readonly orderId: string;
  readonly subject: string;
  readonly merchantId: string;
}

/** The addresses that one process watches for a chain, in memory. */
export interface WatchList {
  /** Reads what was given away since the last time. To be called for each block, after it was met: whoever paid in it was
   *  shown an address that had been committed. */
  refresh(): Promise<void>;
  addresses(): readonly Address[];
  orderAt(address: Address): Told | undefined;
}

type Watched = Told & { readonly until: number };
/** What one look answers; its columns are null when nothing is new. */
interface Row extends Record<string, unknown> {
  readonly seen: string;
  readonly address: Address | null;
  readonly order_id: string;
  readonly subject: string;
  readonly merchant_id: string;
  readonly until: string;
}

/** Longer than promised, so that every process that compares books and chain still counts on it. */
const GRACE_MS = 86_400_000;
const TIDY_MS = 3_600_000;

/** Exact under concurrency: each look asks for what transactions wrote that the last look's snapshot could not see. In a
 *  database that was moved to another server all that was written there may seem to be of transactions to come: of those, the
 *  first look sees all that there is. */
export function watchList({ loopDb, clock }: Pick<Engine, "loopDb" | "clock">, chainId: number): WatchList {
  const watched = new Map<Address, Watched>();
  let addresses: readonly Address[] = [];
  let since = "0";
  let tidyAt = 0;

  function forgetOld(): void {
    if (clock.monotonicMs() < tidyAt) return;
    tidyAt = clock.monotonicMs() + TIDY_MS;
    const now = clock.now().getTime();
    for (const [address, { until }] of watched) if (until < now) watched.delete(address);
    addresses = [...watched.keys()];
  }

  return {
    async refresh() {
      const { rows } = await loopDb.pool.execute<Row>(sql`
        SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS seen, address, order_id, subject, merchant_id,
          extract(epoch FROM watched_until) * 1000 AS until
        FROM (SELECT) AS once LEFT JOIN deposit_order
          ON chain_id = ${chainId} AND address_index IS NOT NULL AND written_in >= ${since}::bigint
            AND (${since} = '0' OR written_in < pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
            AND watched_until > ${clock.now().toISOString()}`);
      for (const { address, order_id: orderId, subject, merchant_id: merchantId, until } of rows) {
        if (!address) continue;
        const told = { orderId, subject, merchantId };
        watched.set(address, { ...told, until: Number(until) + GRACE_MS });
      }
      since = rows[0]?.seen ?? since;
      if (watched.size > addresses.length) addresses = [...watched.keys()];
      forgetOld();
    },
    addresses: () => addresses,
    orderAt: (address) => watched.get(address),
  };
}
