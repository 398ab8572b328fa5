import { sql } from "drizzle-orm";
import { type Executor, outbox } from "#store";

/** Whether what a merchant reads shows all that was credited: nothing is to be told, and no clearing or invoice is to be looked
 *  at now. In one statement: what is told makes them due, and they tell again. */
export async function areCaughtUp(db: Executor, merchantId: string, now: Date): Promise<boolean> {
  const at = now.toISOString();
  const { rows } = await db.execute<{ caught_up: boolean }>(sql`
    SELECT NOT (${outbox.isUntold(merchantId)}
      OR EXISTS (SELECT FROM clearing WHERE due_at <= ${at} AND merchant_id = ${merchantId})
      OR EXISTS (SELECT FROM invoice_news WHERE heard_at <= ${at} AND merchant_id = ${merchantId})) AS caught_up`);
  return rows[0]?.caught_up ?? false;
}
