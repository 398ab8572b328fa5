import { and, asc, desc, eq, isNotNull, lt, ne, sql } from "drizzle-orm";
import { type Executor, fixed, type Tx } from "#store";
import { merchant } from "../../merchant/tables.ts";
import { type InvoiceRow, presentInvoice, type Shown } from "../present.ts";
import type { Invoice } from "../schema.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { lockInvoice, moveInvoice } from "./move.ts";

/** A subscription, by whom it bills. */
interface Subscribed {
  readonly merchantId: string;
  readonly id: `sub_${string}`;
}

function ofIt({ merchantId, id }: Subscribed) {
  return and(eq(invoice.merchantId, merchantId), eq(invoice.subscriptionId, id));
}

/** Its invoices, newest cycle first. */
export async function invoicesOf(
  db: Executor,
  shown: Shown,
  subscribed: Subscribed,
  limit: number,
): Promise<readonly Invoice[]> {
  const rows = await db
    .select()
    .from(invoice)
    .where(ofIt(subscribed))
    .orderBy(desc(invoice.cycleIndex))
    .limit(limit);
  return rows.map((row) => presentInvoice(row, shown));
}

/** Whether one of its invoices is told to be overdue and still open. */
export async function isAnyOverdue(tx: Tx, subscribed: Subscribed): Promise<boolean> {
  const [row] = await tx
    .select({ id: invoice.id })
    .from(invoice)
    .where(and(ofIt(subscribed), fixed(eq(invoice.state, "open")), isNotNull(invoice.overdueAt)))
    .limit(1);
  return row !== undefined;
}

/** Holds reminders of its invoices back, or lets them go out again: also of one that is paid, since its payment may yet be
 *  reversed. */
export async function holdReminders(tx: Tx, subscribed: Subscribed, isHeld: boolean): Promise<void> {
  await tx
    .update(invoice)
    .set({ remindersHeld: isHeld })
    .where(and(ofIt(subscribed), ne(invoice.remindersHeld, isHeld)));
}

/** Its invoices that are still open, oldest first. */
export async function openInvoicesOf(
  db: Executor,
  subscribed: Subscribed,
): Promise<readonly Pick<InvoiceRow, "merchantId" | "id">[]> {
  return db
    .select({ merchantId: invoice.merchantId, id: invoice.id })
    .from(invoice)
    .where(and(ofIt(subscribed), sql`${invoice.state} IN ('open', 'uncollectible')`))
    .orderBy(asc(invoice.id));
}

/** Invoices of subscriptions that have been overdue since before `than`, of merchants who want something to follow. */
export async function longOverdue(db: Executor, than: Date, limit: number) {
  const { merchantId, id, subscriptionId } = invoice;
  const rows = await db
    .select({ merchantId, id, subscriptionId, action: merchant.finalAction })
    .from(invoice)
    .innerJoin(merchant, eq(merchant.id, invoice.merchantId))
    .where(
      and(
        fixed(eq(invoice.state, "open")),
        isNotNull(subscriptionId),
        lt(invoice.dueAt, than),
        sql`${merchant.finalAction} <> 'none'`,
      ),
    )
    .orderBy(asc(invoice.dueAt))
    .limit(limit);
  return rows.flatMap((row) => (row.subscriptionId ? [{ ...row, subscriptionId: row.subscriptionId }] : []));
}

/** Gives up on the money of an open invoice; false when it is open no more. */
export async function writeOffOpen(
  tx: Tx,
  desk: InvoiceDesk,
  named: { readonly merchantId: string; readonly id: string },
): Promise<boolean> {
  const row = await lockInvoice(tx, named);
  if (row.state !== "open") return false;
  await moveInvoice(tx, desk, { row, trigger: "write-off", changes: { remindAt: null } });
  return true;
}
