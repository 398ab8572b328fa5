import { and, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "#store";
import type { AccountType } from "./account.ts";
import { ledgerAccount, ledgerBalance } from "./tables.ts";

/** One account with its balances in atomic units, signed by its type: what an asset holds, what a liability owes. */
export interface AccountBalance {
  readonly path: string;
  readonly type: AccountType;
  readonly asset: string;
  readonly posted: bigint;
  readonly pending: bigint;
}

const isDebitNormal = (type: AccountType) => type === "asset" || type === "expense";

/** Every account with its balance, by asset and path. */
export async function trialBalance(db: Executor): Promise<readonly AccountBalance[]> {
  const rows = await db
    .select({ account: ledgerAccount, balance: ledgerBalance })
    .from(ledgerAccount)
    .innerJoin(ledgerBalance, eq(ledgerBalance.accountId, ledgerAccount.id))
    .orderBy(ledgerAccount.asset, ledgerAccount.path);
  return rows.map(({ account: { path, type, asset }, balance }) => {
    const sign = isDebitNormal(type) ? 1n : -1n;
    return {
      path,
      type,
      asset,
      posted: sign * (balance.debitsPosted - balance.creditsPosted),
      pending: sign * (balance.debitsPending - balance.creditsPending),
    };
  });
}

/** Per asset: debits less credits over all accounts, posted and pending, and how far balance rows are from the fold
 *  of the transfers. All zero, always. */
export async function imbalance(db: Executor): Promise<readonly { asset: string; difference: bigint }[]> {
  const { rows } = await db.execute<{ asset: string; difference: string }>(sql`
    WITH fold AS (
      SELECT account, asset, sum(posted) AS posted, sum(pending) AS pending FROM (
        SELECT debit_account AS account, asset, sum(amount) FILTER (WHERE phase IN ('single','post')) AS posted,
          coalesce(sum(amount) FILTER (WHERE phase = 'pending'), 0) - coalesce(sum(amount) FILTER (WHERE phase IN ('post','void')), 0) AS pending
        FROM ledger_transfer GROUP BY 1, 2
        UNION ALL
        SELECT credit_account, asset, -sum(amount) FILTER (WHERE phase IN ('single','post')),
          coalesce(sum(amount) FILTER (WHERE phase IN ('post','void')), 0) - coalesce(sum(amount) FILTER (WHERE phase = 'pending'), 0)
        FROM ledger_transfer GROUP BY 1, 2
      ) AS side GROUP BY 1, 2)
    SELECT account.asset AS asset,
      (abs(sum(balance.debits_posted - balance.credits_posted)) + abs(sum(balance.debits_pending - balance.credits_pending))
        + sum(abs(balance.debits_posted - balance.credits_posted - coalesce(fold.posted, 0)))
        + sum(abs(balance.debits_pending - balance.credits_pending - coalesce(fold.pending, 0))))::text AS difference
    FROM ledger_balance AS balance
    JOIN ledger_account AS account ON account.id = balance.account_id
    LEFT JOIN fold ON fold.account = balance.account_id
    GROUP BY account.asset ORDER BY account.asset`);
  return rows.map(({ asset, difference }) => ({ asset, difference: BigInt(difference) }));
}

/** A merchant's spendable and not yet final money per asset, in atomic units. */
export async function merchantBalances(db: Executor, merchantId: string): Promise<readonly AccountBalance[]> {
  const all = await db
    .select({ account: ledgerAccount, balance: ledgerBalance })
    .from(ledgerAccount)
    .innerJoin(ledgerBalance, eq(ledgerBalance.accountId, ledgerAccount.id))
    .where(and(eq(ledgerAccount.merchantId, merchantId), inArray(ledgerAccount.type, ["liability"])))
    .orderBy(ledgerAccount.asset);
  return all.map(({ account: { path, type, asset }, balance }) => ({
    path,
    type,
    asset,
    posted: balance.creditsPosted - balance.debitsPosted,
    pending: balance.creditsPending - balance.debitsPending,
  }));
}
