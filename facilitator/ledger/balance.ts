import { and, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { type Executor, fixed } from "#store";
import { type Account, type AccountType, treasuryPath } from "./account.ts";
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
export function trialBalance(db: Executor): Promise<readonly AccountBalance[]> {
  return readBalances(db);
}

/** What the books say of a chain's treasury, by asset: also of tokens that are not listed any more. */
export function treasuryBalances(db: Executor, chain: string): Promise<readonly AccountBalance[]> {
  return readBalances(db, eq(ledgerAccount.path, treasuryPath(chain)));
}

async function readBalances(db: Executor, where?: SQL): Promise<readonly AccountBalance[]> {
  const rows = await db
    .select({ account: ledgerAccount, balance: ledgerBalance })
    .from(ledgerAccount)
    .innerJoin(ledgerBalance, eq(ledgerBalance.accountId, ledgerAccount.id))
    .where(where)
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

/** A merchant's spendable and not yet final money per asset, in atomic units. */
export async function merchantBalances(db: Executor, merchantId: string): Promise<readonly AccountBalance[]> {
  const all = await db
    .select({ account: ledgerAccount, balance: ledgerBalance })
    .from(ledgerAccount)
    .innerJoin(ledgerBalance, eq(ledgerBalance.accountId, ledgerAccount.id))
    .where(and(eq(ledgerAccount.merchantId, merchantId), fixed(inArray(ledgerAccount.type, ["liability"]))))
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
