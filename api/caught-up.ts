import { sql } from "drizzle-orm";
import { type Executor, outbox } from "#store";

/** What becomes due while the question is on its way is looked at as well. An answer that takes longer is none. */
const AHEAD_MS = 1_000;

/** Whether what a merchant reads shows all that was credited: nothing is to be told, and no clearing or invoice is to be looked
 *  at now. In one statement: what is told makes them due, and they tell again. */
export async function areCaughtUp(db: Executor, merchantId: string, now: () => Date): Promise<boolean> {
  const untilMs = now().getTime() + AHEAD_MS;
  const soon = new Date(untilMs).toISOString();
  const { rows } = await db.execute<{ is_untold: boolean; due_ms: string | null }>(sql`
    SELECT ${outbox.isUntold(merchantId)} AS is_untold, 1000 * extract(epoch FROM least(
      (SELECT min(due_at) FROM clearing WHERE due_at <= ${soon} AND merchant_id = ${merchantId}),
      (SELECT min(heard_at) FROM invoice_news WHERE heard_at <= ${soon} AND merchant_id = ${merchantId}))) AS due_ms`);
  const [row] = rows;
  const nowMs = now().getTime();
  return row?.is_untold === false && nowMs <= untilMs && (row.due_ms === null || Number(row.due_ms) > nowMs);
}
