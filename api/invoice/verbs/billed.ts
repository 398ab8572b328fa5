import { and, desc, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Call } from "../../http/context.ts";
import { presentInvoice, type Shown } from "../present.ts";
import type { Invoice } from "../schema.ts";
import { invoice } from "../tables.ts";

interface Billed {
  readonly subscriptionIds: readonly `sub_${string}`[];
  readonly email: string;
  readonly limit: number;
}

/** What a customer was billed, newest first; one more than the limit when there are more. An invoice of a subscription keeps
 *  the email of its day, and is whose the subscription is; another goes by the email that the customer has. Each kind is
 *  read off an index of its own. */
export async function listBilled(shown: Shown, { ctx, input }: Call<Billed>): Promise<readonly Invoice[]> {
  ctx.demand("invoices:read");
  const { subscriptionIds, email, limit } = input;
  const newest = (condition: SQL | undefined) =>
    ctx.db.pool
      .select()
      .from(invoice)
      .where(and(eq(invoice.merchantId, ctx.merchantId), condition))
      .orderBy(desc(invoice.id))
      .limit(limit + 1);
  const isTheirs = sql`lower(${invoice.buyer}->>'email') = lower(${email})`;
  const rows = await unionAll(
    newest(inArray(invoice.subscriptionId, [...subscriptionIds])),
    newest(and(isTheirs, isNull(invoice.subscriptionId))),
  )
    .orderBy(desc(invoice.id))
    .limit(limit + 1);
  return rows.map((row) => presentInvoice(row, shown));
}
