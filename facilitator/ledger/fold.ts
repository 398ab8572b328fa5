import { lt, type SQL, sql } from "drizzle-orm";
import type { Database, Executor, Tx } from "#store";
import { ledgerCheckpoint, ledgerFold } from "./tables.ts";

/** Columns of a balance row, in the order of `foldOf`. */
const columns = ["debits_posted", "credits_posted", "debits_pending", "credits_pending"] as const;

/** Seconds after which no transaction can still be under way: each of its statements, and every pause between them, is
 *  ended within seconds. */
const SETTLED_SECONDS = 600;
/** Seconds of postings that are folded at once, so that a statement never takes long. */
const STEP_SECONDS = 600;

/** What the transfers of `which` add up to per account, in the columns of a balance row. */
export const foldOf = (which: SQL) => sql`
  SELECT account AS account_id,
    sum(CASE WHEN phase IN ('single','post') THEN debit ELSE 0 END) AS debits_posted,
    sum(CASE WHEN phase IN ('single','post') THEN credit ELSE 0 END) AS credits_posted,
    sum(CASE phase WHEN 'pending' THEN debit WHEN 'single' THEN 0 ELSE -debit END) AS debits_pending,
    sum(CASE phase WHEN 'pending' THEN credit WHEN 'single' THEN 0 ELSE -credit END) AS credits_pending
  FROM (
    SELECT debit_account AS account, amount AS debit, 0 AS credit, phase FROM ledger_transfer WHERE ${which}
    UNION ALL
    SELECT credit_account, 0, amount, phase FROM ledger_transfer WHERE ${which}) AS side
  GROUP BY account`;

/** Adds what was posted since the checkpoint, and can no longer change, to the fold; piece by piece, until there is no
 *  more or `stopping`. */
export async function foldOldTransfers(db: Database, stopping: AbortSignal): Promise<void> {
  for (let isMore = true; isMore && !stopping.aborted; ) isMore = await db.tx(foldStep);
}

async function foldStep(tx: Tx): Promise<boolean> {
  const [checkpoint] = await tx.select().from(ledgerCheckpoint).for("update");
  // As exact as the column: what is rounded down would leave more to do for ever.
  const settled = sql`date_trunc('milliseconds', now()) - make_interval(secs => ${SETTLED_SECONDS})`;
  const [step] = await tx
    .update(ledgerCheckpoint)
    .set({
      foldedTo: sql`least(${ledgerCheckpoint.foldedTo} + make_interval(secs => ${STEP_SECONDS}), ${settled})`,
    })
    .where(lt(ledgerCheckpoint.foldedTo, settled))
    .returning({ to: ledgerCheckpoint.foldedTo, isMore: lt(ledgerCheckpoint.foldedTo, settled) });
  if (!checkpoint || !step) return false;
  await addToFold(tx, { from: checkpoint.foldedTo, to: step.to });
  return step.isMore === true;
}

function addToFold(tx: Executor, { from, to }: { readonly from: Date; readonly to: Date }) {
  const which = sql`posted_at >= ${from.toISOString()} AND posted_at < ${to.toISOString()}`;
  const added = columns.map((column) => sql.raw(`${column} = known.${column} + excluded.${column}`));
  return tx.execute(sql`
    INSERT INTO ${ledgerFold} AS known (account_id, ${sql.raw(columns.join(", "))}) ${foldOf(which)}
    ON CONFLICT (account_id) DO UPDATE SET ${sql.join(added, sql`, `)}`);
}
