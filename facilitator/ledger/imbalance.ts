import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "#store";
import { foldOf } from "./fold.ts";

/** Atomic units of an asset; zero, always. */
export interface Imbalance {
  readonly asset: string;
  readonly difference: bigint;
}

/** Per asset: debits less credits over all accounts, posted and pending, and how far each column of each balance row is
 *  from the fold of all transfers there ever were. */
export function imbalance(db: Executor): Promise<readonly Imbalance[]> {
  return differencesFrom(db, foldOf(sql`true`));
}

/** The same, where the fold of what was posted before the checkpoint is taken for true: as quick in old books as in new
 *  ones. */
export function recentImbalance(db: Executor): Promise<readonly Imbalance[]> {
  const isRecent = sql`posted_at >= (SELECT folded_to FROM ledger_checkpoint)`;
  return differencesFrom(
    db,
    sql`
      SELECT account_id, sum(debits_posted) AS debits_posted, sum(credits_posted) AS credits_posted,
        sum(debits_pending) AS debits_pending, sum(credits_pending) AS credits_pending
      FROM (${foldOf(isRecent)} UNION ALL SELECT * FROM ledger_fold) AS part
      GROUP BY account_id`,
  );
}

async function differencesFrom(db: Executor, fold: SQL): Promise<readonly Imbalance[]> {
  const { rows } = await db.execute<{ asset: string; difference: string }>(sql`
    WITH fold AS (${fold}), distance AS (
      -- From the accounts: a balance row that is missing is a difference as well.
      SELECT account.asset,
        coalesce(balance.debits_posted, 0) - coalesce(balance.credits_posted, 0) AS posted,
        coalesce(balance.debits_pending, 0) - coalesce(balance.credits_pending, 0) AS pending,
        abs(coalesce(balance.debits_posted, 0) - coalesce(fold.debits_posted, 0))
          + abs(coalesce(balance.credits_posted, 0) - coalesce(fold.credits_posted, 0))
          + abs(coalesce(balance.debits_pending, 0) - coalesce(fold.debits_pending, 0))
          + abs(coalesce(balance.credits_pending, 0) - coalesce(fold.credits_pending, 0)) AS columns
      FROM ledger_account AS account
      LEFT JOIN ledger_balance AS balance ON balance.account_id = account.id
      LEFT JOIN fold ON fold.account_id = account.id)
    SELECT asset, (abs(sum(posted)) + abs(sum(pending)) + sum(columns))::text AS difference
    FROM distance GROUP BY asset ORDER BY asset`);
  return rows.map(({ asset, difference }) => ({ asset, difference: BigInt(difference) }));
}
