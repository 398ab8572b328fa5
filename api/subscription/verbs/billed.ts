import { and, eq } from "drizzle-orm";
import type { Call } from "../../http/context.ts";
import type { Invoice } from "../../invoice/schema.ts";
import { listBilled } from "../../invoice/verbs/billed.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { subscription } from "../tables.ts";

interface Customer {
  readonly id: string;
  readonly email: string;
  readonly limit: number;
}

/** As `listBilled`, by all subscriptions that the customer has or had. */
export async function listBilledTo(
  desk: InvoiceDesk,
  { ctx, input: { id, ...rest } }: Call<Customer>,
): Promise<readonly Invoice[]> {
  ctx.demand("invoices:read");
  const { merchantId, customerId } = subscription;
  const rows = await ctx.db.pool
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(eq(merchantId, ctx.merchantId), eq(customerId, id as `cus_${string}`)));
  const subscriptionIds = rows.map((row) => row.id);
  return listBilled(desk, { ctx, input: { ...rest, subscriptionIds } });
}
