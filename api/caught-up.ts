import { sql } from "drizzle-orm";
import { type Executor, outbox } from "#store";

/** No answer of the database is waited for so long. */
const AHEAD_MS = 60_000;

/** Whether what a merchant reads shows all that was credited: nothing is to be told, and no clearing or invoice is to be looked
 *  at now. In one statement: what is told makes them due, and they tell again. The clock is read after it: what became due
 *  while it was on its way is due. */
export async function areCaughtUp(db: Executor, merchantId: string, now: () => Date): Promise<boolean> {
  const soon = new Date(now().getTime() + AHEAD_MS).toISOString();
  const { rows } = await db.execute<{ is_untold: boolean; due_ms: string | null }>(sql`
    SELECT ${outbox.isUntold(merchantId)} AS is_untold, 1000 * extract(epoch FROM least(
      (SELECT min(due_at) FROM clearing WHERE due_at <= ${soon} AND merchant_id = ${merchantId}),
      (SELECT min(heard_at) FROM invoice_news WHERE heard_at <= ${soon} AND merchant_id = ${merchantId}))) AS due_ms`);
  const [row] = rows;
  return row?.is_untold === false && (row.due_ms === null || Number(row.due_ms) > now().getTime());
}
