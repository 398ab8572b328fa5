import { and, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import { isId } from "#kernel/id";
import { fixed } from "#store";
import type { Buyer } from "../../customer/verbs.ts";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { Page } from "../../http/page.ts";
import { type InvoiceRow, presentInvoice, type Shown } from "../present.ts";
import type { Invoice, InvoiceFilter, InvoicePath } from "../schema.ts";
import type { InvoiceStatus } from "../state.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { paymentUnderWay, type UnderWay } from "./intents.ts";
import { findInvoice } from "./move.ts";
import { pastDue } from "./past-due.ts";
import { type ShownRefunds, shownRefunds } from "./refunds.ts";

export { type InvoiceRow, invoiceUrl } from "../present.ts";

/** Fault: `not_found`. */
export async function readInvoice(shown: Shown, { ctx, input }: Call<InvoicePath>): Promise<Invoice> {
  ctx.demand("invoices:read");
  return presentInvoice(await findInvoice(ctx.db.pool, { merchantId: ctx.merchantId, id: input.id }), shown);
}

/** The invoice of an address, for whoever holds it: whose it is stands with what can be paid, and a draft has no address
 *  yet. Fault: `not_found`. */
export async function findByAddress(
  desk: Pick<InvoiceDesk, "db"> & { readonly facilitator: Pick<InvoiceDesk["facilitator"], "offer"> },
  id: string,
): Promise<InvoiceRow> {
  const offer = isId("inv", id) ? await desk.facilitator.offer({ by: "id", id }) : null;
  if (!offer) throw fault("not_found");
  return findInvoice(desk.db.pool, { merchantId: offer.payable.merchantId, id });
}

/** The same as its page shows it. One that is or was listed may have been found by anybody, so then nothing is told of its
 *  buyer, nor what was noted for them. Fault: `not_found`. */
export async function openInvoice(desk: InvoiceDesk, id: string): Promise<OpenInvoice> {
  const row = await findByAddress(desk, id);
  const { metadata: _, buyer, notes, ...shown } = presentInvoice(row, desk);
  return {
    ...shown,
    buyerName: row.wasListed ? null : buyer.name,
    notes: row.wasListed ? null : notes,
    underWay: await paymentUnderWay(desk.db.pool, row),
    refunds: await shownRefunds(desk.db.pool, row),
  };
}

/** An invoice without what is only its merchant's, or only its buyer's. */
export type OpenInvoice = Omit<Invoice, "metadata" | "buyer"> & {
  readonly buyerName: string | null;
  readonly underWay: UnderWay | null;
  readonly refunds: ShownRefunds | null;
};

/** The merchant's invoices, newest first; one more than the page holds when there are more. A buyer who is null has none. */
export async function listInvoices(
  shown: Shown,
  { ctx, input }: Call<Page & InvoiceFilter & { readonly buyer?: Buyer | null }>,
): Promise<readonly Invoice[]> {
  ctx.demand("invoices:read");
  if (input.buyer === null) return [];
  const { after, limit } = input;
  const rows = await ctx.db.pool
    .select()
    .from(invoice)
    .where(
      and(
        eq(invoice.merchantId, ctx.merchantId),
        ...conditionsOf(input, shown.now()),
        input.buyer && billedTo(ctx.merchantId, input.buyer),
        after === null ? undefined : lt(invoice.id, after as `inv_${string}`),
      ),
    )
    .orderBy(desc(invoice.id))
    .limit(limit + 1);
  return rows.map((row) => presentInvoice(row, shown));
}

function conditionsOf(
  { state, status, buyerEmail, subscriptionId, number }: InvoiceFilter,
  now: Date,
): readonly (SQL | undefined)[] {
  return [
    state && eq(invoice.state, state),
    status && ofStatus(status, now),
    buyerEmail === undefined ? undefined : sql`lower(${invoice.buyer}->>'email') = lower(${buyerEmail})`,
    subscriptionId === undefined ? undefined : eq(invoice.subscriptionId, subscriptionId as `sub_${string}`),
    number === undefined ? undefined : eq(invoice.number, number),
  ];
}

/** Each kind is read off an index of its own. */
function billedTo(merchantId: string, { email, subscriptionIds }: Buyer): SQL {
  const theirs = sql`invoice.merchant_id = ${merchantId} AND`;
  const subscribed = sql`invoice.subscription_id IS NOT NULL AND invoice.subscription_id = ANY(${sql.param([...subscriptionIds])}::text[])`;
  const other = sql`invoice.subscription_id IS NULL AND lower(invoice.buyer->>'email') = lower(${email})`;
  return sql`${invoice.id} IN (SELECT id FROM invoice WHERE ${theirs} ${subscribed}
    UNION ALL SELECT id FROM invoice WHERE ${theirs} ${other})`;
}

/** The rule of `statusOf`, as SQL. */
function ofStatus(status: InvoiceStatus, now: Date): SQL | undefined {
  const isOverdue = sql`(${pastDue(now)} AND ${invoice.paid} < ${invoice.total})`;
  switch (status) {
    case "overdue":
      return and(fixed(eq(invoice.state, "open")), isOverdue);
    case "partially-paid":
      return and(fixed(eq(invoice.state, "open")), sql`NOT ${isOverdue}`, sql`${invoice.paid} > 0`);
    case "open":
      return and(fixed(eq(invoice.state, "open")), sql`NOT ${isOverdue}`, sql`${invoice.paid} = 0`);
    default:
      return eq(invoice.state, status);
  }
}
