import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { Executor } from "#store";
import type { Account, AccountType } from "./account.ts";
import { ledgerAccount, ledgerBalance, ledgerTransfer } from "./tables.ts";

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

/** Per asset, in atomic units: debits less credits over all accounts, posted and pending, and how far each column of
 *  each balance row is from the fold of the transfers. All zero, always. */
export async function imbalance(db: Executor): Promise<readonly { asset: string; difference: bigint }[]> {
  const { rows } = await db.execute<{ asset: string; difference: string }>(sql`
    WITH side AS (
      SELECT debit_account AS account, amount AS debit, 0 AS credit, phase FROM ledger_transfer
      UNION ALL
      SELECT credit_account, 0, amount, phase FROM ledger_transfer
    ), fold AS (
      SELECT account,
        sum(CASE WHEN phase IN ('single','post') THEN debit ELSE 0 END) AS debits_posted,
        sum(CASE WHEN phase IN ('single','post') THEN credit ELSE 0 END) AS credits_posted,
        sum(CASE phase WHEN 'pending' THEN debit WHEN 'single' THEN 0 ELSE -debit END) AS debits_pending,
        sum(CASE phase WHEN 'pending' THEN credit WHEN 'single' THEN 0 ELSE -credit END) AS credits_pending
      FROM side GROUP BY account
    ), distance AS (
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
      LEFT JOIN fold ON fold.account = account.id)
    SELECT asset, (abs(sum(posted)) + abs(sum(pending)) + sum(columns))::text AS difference
    FROM distance GROUP BY asset ORDER BY asset`);
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

/** What an asset account held as of a block, pending included: rows of later blocks, or of none, do not count. Atomic
 *  units. Reckoned back from what it holds now, so that it does not take longer with every row that was ever written. */
export async function balanceAt(db: Executor, { id, asset }: Account, blockNumber: number): Promise<bigint> {
  const isLater = or(gt(ledgerTransfer.blockNumber, blockNumber), isNull(ledgerTransfer.blockNumber));
  const later = db
    .select({
      moved: sql`sum(
        CASE ${ledgerTransfer.phase} WHEN 'post' THEN 0 WHEN 'void' THEN -1 ELSE 1 END
        * CASE WHEN ${eq(ledgerTransfer.debitAccount, id)} THEN ${ledgerTransfer.amount} ELSE -${ledgerTransfer.amount} END)`,
    })
    .from(ledgerTransfer)
    .where(
      and(
        eq(ledgerTransfer.asset, asset),
        isLater,
        or(eq(ledgerTransfer.debitAccount, id), eq(ledgerTransfer.creditAccount, id)),
      ),
    );
  const { debitsPosted, debitsPending, creditsPosted, creditsPending } = ledgerBalance;
  const [row] = await db
    .select({
      held: sql<string>`${debitsPosted} + ${debitsPending} - ${creditsPosted} - ${creditsPending} - coalesce(${later}, 0)`,
    })
    .from(ledgerBalance)
    .where(eq(ledgerBalance.accountId, id));
  return BigInt(row?.held ?? 0);
}
