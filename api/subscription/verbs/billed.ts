import { and, eq } from "drizzle-orm";
import type { PaymentDesk } from "../../clearing/verbs/payment.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import type { Invoice } from "../../invoice/schema.ts";
import { listBilled } from "../../invoice/verbs/billed.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { type FoundPayment, listPayments } from "../../payment/verbs.ts";
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
  return listBilled(desk, { ctx, input: { ...rest, subscriptionIds: await subscribedBy(ctx, id) } });
}

/** As `listPayments` of a buyer, by all subscriptions that the customer has or had. */
export async function listPaidBy(
  desk: PaymentDesk,
  { ctx, input: { id, email, limit } }: Call<Customer>,
): Promise<readonly FoundPayment[]> {
  ctx.demand("payments:read");
  const buyer = { email, subscriptionIds: await subscribedBy(ctx, id) };
  return listPayments(desk, { ctx, input: { limit, after: null, buyer } });
}

async function subscribedBy({ db, merchantId }: MerchantCtx, id: string) {
  const rows = await db.pool
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(eq(subscription.merchantId, merchantId), eq(subscription.customerId, id as `cus_${string}`)));
  return rows.map((row) => row.id);
}
