/** What holds whatever happened, asked of the rows. Source: merchant-api.md §9. */
import { imbalance, trialBalance } from "#ledger";
import type { TestDatabase } from "../../support/db.ts";

/** What is wrong, in words; empty when nothing is. */
export async function problemsIn(database: TestDatabase): Promise<readonly string[]> {
  const differences = (await imbalance(database.db.pool)).filter(({ difference }) => difference !== 0n);
  const found = await Promise.all([
    unsettled(database),
    creditedOtherwise(database),
    negative(database),
    refundedTooMuch(database),
  ]);
  return [...differences.map(({ asset }) => `the books of ${asset} do not balance`), ...found.flat()];
}

/** What has an effect: pendings and singles, less what was voided. */
const moves = `
  SELECT debit_account, credit_account, subject, code,
    CASE phase WHEN 'void' THEN -amount WHEN 'post' THEN 0 ELSE amount END AS amount
  FROM ledger_transfer`;

/** I6: a settled clearing holds nothing. */
async function unsettled({ query }: TestDatabase): Promise<string[]> {
  const rows = await query<{ id: string; left: string }>(`
    WITH moves AS (${moves}), held AS (
      SELECT subject, sum(CASE WHEN credit.path = 'liability:clearing' THEN amount ELSE 0 END
        - CASE WHEN debit.path = 'liability:clearing' THEN amount ELSE 0 END) AS left
      FROM moves JOIN ledger_account debit ON debit.id = debit_account JOIN ledger_account credit ON credit.id = credit_account
      WHERE 'liability:clearing' IN (debit.path, credit.path) GROUP BY subject)
    SELECT clearing.id, held.left FROM clearing JOIN held ON held.subject = clearing.id
    WHERE (clearing.state = 'settled' AND held.left <> 0) OR held.left < 0`);
  return rows.map(({ id, left }) => `${id} holds ${left} in the clearing`);
}

/** I7: a completed intent has exactly one live credit, any other none. */
async function creditedOtherwise({ query }: TestDatabase): Promise<string[]> {
  const rows = await query<{ id: string; status: string; credits: string }>(`
    WITH live AS (
      SELECT pending.subject, count(DISTINCT pending.entry_id) AS credits FROM ledger_transfer AS pending
      WHERE pending.code IN ('clearing-settled', 'x402-credited', 'x402-matched') AND pending.phase IN ('pending', 'single')
        AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS gone WHERE gone.ref = pending.id AND gone.phase = 'void')
      GROUP BY pending.subject)
    SELECT intent.id, intent.status, coalesce(sum(live.credits), 0) AS credits
    FROM payment_intent AS intent
      LEFT JOIN clearing ON clearing.id = intent.clearing_id
      LEFT JOIN live ON live.subject IN (clearing.id, clearing.provider_reference)
    GROUP BY intent.id, intent.status
    HAVING coalesce(sum(live.credits), 0) <> CASE intent.status WHEN 'completed' THEN 1 ELSE 0 END`);
  return rows.map(({ id, status, credits }) => `${id} is ${status} with ${credits} credits`);
}

/** I5: nobody owes what is not there. */
async function negative({ query }: TestDatabase): Promise<string[]> {
  const rows = await query<{ path: string }>(`
    SELECT path FROM ledger_balance JOIN ledger_account ON ledger_account.id = account_id
    WHERE ledger_account.bounded AND debits_posted + debits_pending > credits_posted + credits_pending`);
  return rows.map(({ path }) => `${path} is below zero`);
}

async function refundedTooMuch({ query }: TestDatabase): Promise<string[]> {
  const rows = await query<{ id: string }>(`
    SELECT clearing.id FROM clearing JOIN refund ON refund.intent_id = clearing.intent_id
    WHERE refund.state NOT IN ('failed', 'cancelled')
    GROUP BY clearing.id, clearing.settlement_amount HAVING sum(refund.amount) > clearing.settlement_amount`);
  return rows.map(({ id }) => `${id} was refunded more than it settled`);
}

/** At rest: what the books say we hold is what the chain says, token by token. */
export async function unlikeChain(
  database: TestDatabase,
  heldOnChain: (symbol: string) => Promise<bigint>,
): Promise<readonly string[]> {
  const accounts = await trialBalance(database.db.pool);
  const symbols = [...new Set(accounts.map(({ asset }) => asset))].filter(
    (asset) => !asset.startsWith("ETH@"),
  );
  const lines = await Promise.all(
    symbols.map(async (asset) => {
      const held = accounts
        .filter((each) => each.asset === asset && /^asset:(treasury|deposit):/.test(each.path))
        .reduce((sum, { posted, pending }) => sum + posted + pending, 0n);
      const chain = await heldOnChain(asset.split("@")[0] ?? "");
      return held === chain ? [] : [`${asset}: the books hold ${held}, the chain ${chain}`];
    }),
  );
  return lines.flat();
}
