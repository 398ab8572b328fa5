import { and, eq } from "drizzle-orm";
import { isId } from "#kernel/id";
import type { PaymentDesk } from "../../clearing/verbs/payment.ts";
import { customer } from "../../customer/tables.ts";
import type { Buyer } from "../../customer/verbs.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import type { Invoice } from "../../invoice/schema.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { listInvoices } from "../../invoice/verbs/read.ts";
import { type FoundPayment, listPayments } from "../../payment/verbs.ts";
import { subscription } from "../tables.ts";

/** A customer by all subscriptions that they have or had, and by their email; null for an id that is nobody's. */
export async function buyerOf({ db, merchantId }: MerchantCtx, customerId: string): Promise<Buyer | null> {
  if (!isId("cus", customerId)) return null;
  const [found] = await db.pool
    .select({ email: customer.email })
    .from(customer)
    .where(and(eq(customer.merchantId, merchantId), eq(customer.id, customerId)));
  if (!found) return null;
  const rows = await db.pool
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(eq(subscription.merchantId, merchantId), eq(subscription.customerId, customerId)));
  return { email: found.email, subscriptionIds: rows.map(({ id }) => id) };
}

interface History {
  readonly customerId: string;
  readonly limit: number;
}

/** What a customer was billed, newest first; one more than the limit when there are more. */
export async function listBilledTo(
  desk: InvoiceDesk,
  { ctx, input: { customerId, limit } }: Call<History>,
): Promise<readonly Invoice[]> {
  const buyer = await buyerOf(ctx, customerId);
  return listInvoices(desk, { ctx, input: { limit, after: null, buyer } });
}

/** What they paid, in the same way. */
export async function listPaidBy(
  desk: PaymentDesk,
  { ctx, input: { customerId, limit } }: Call<History>,
): Promise<readonly FoundPayment[]> {
  const buyer = await buyerOf(ctx, customerId);
  return listPayments(desk, { ctx, input: { limit, after: null, buyer } });
}
