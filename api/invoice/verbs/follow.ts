import { and, asc, eq, lte, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { errorFields } from "#kernel/log";
import type { outbox, Tx } from "#store";
import type { InvoiceRow } from "../present.ts";
import { remindersAt } from "../reminders.ts";
import { isPayable } from "../state.ts";
import { invoice, invoiceNews } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { agentsPayments, cancelUnfunded, invoiceSources, isUnfunded, liveIntents } from "./intents.ts";
import { type Collected, collectedOf } from "./money.ts";
import { changeInvoice, isIt, moveInvoice } from "./move.ts";

const heard: ReadonlySet<string> = new Set([
  "payment.completed",
  "payment.reversed",
  "payment.funds_detected",
  "payment.review_required",
  "refund.created",
  "refund.failed",
  "refund.cancelled",
]);

/** Notes which invoices these facts are about: one statement for all of them, and no lock that a payment could wait for.
 *  What follows is done in a transaction of the invoice's own, once per fact. */
export async function hearPayments(tx: Tx, facts: readonly outbox.Fact[], now: Date): Promise<void> {
  const about = facts.flatMap(({ id, type, merchantId, payload: { paymentIntentId } }) =>
    heard.has(type) && typeof paymentIntentId === "string"
      ? [{ id, merchantId, intentId: paymentIntentId }]
      : [],
  );
  if (about.length === 0) return;
  const column = (values: readonly string[]) => sql`${sql.param(values)}::text[]`;
  await tx.execute(sql`
    INSERT INTO invoice_news (fact_id, merchant_id, invoice_id, heard_at)
    SELECT about.fact_id, intent.merchant_id, intent.metadata->>'invoiceId', ${now.toISOString()}::timestamptz
    FROM unnest(${column(about.map(({ id }) => id))}, ${column(about.map(({ merchantId }) => merchantId))},
        ${column(about.map(({ intentId }) => intentId))}) AS about(fact_id, merchant_id, intent_id)
      JOIN payment_intent AS intent ON intent.merchant_id = about.merchant_id AND intent.id = about.intent_id
    WHERE intent.source = ANY(${column(invoiceSources)}) AND intent.metadata ? 'invoiceId'
    ON CONFLICT DO NOTHING`);
}

const GROUP = 50;
type Named = Pick<InvoiceRow, "merchantId" | "id">;

/** Brings invoices to where their payments are; how many were in hand. */
export async function followPayments(desk: InvoiceDesk): Promise<number> {
  const { merchantId, invoiceId } = invoiceNews;
  const named = await desk.db.pool
    .select({ merchantId, id: invoiceId })
    .from(invoiceNews)
    .where(lte(invoiceNews.heardAt, desk.now()))
    .groupBy(merchantId, invoiceId)
    .orderBy(asc(sql`min(${invoiceNews.heardAt})`))
    .limit(GROUP);
  let done = 0;
  for (const each of named) if (await followOne(desk, each)) done += 1;
  return done;
}

async function followOne(desk: InvoiceDesk, named: Named): Promise<boolean> {
  try {
    const payments = await agentsPayments(desk, desk.db.pool, named);
    return await desk.db.tx((tx) => bringUp(tx, desk, named, payments));
  } catch (error) {
    desk.log.warn(
      { invoice: named.id, ...errorFields(error) },
      "an invoice could not follow its payments; it is tried again",
    );
    await postpone(desk, named);
    return false;
  }
}

const AFTER_FAULT_MS = 10_000;

async function postpone({ db, now }: InvoiceDesk, named: Named): Promise<void> {
  const { merchantId, invoiceId } = invoiceNews;
  await db.pool
    .update(invoiceNews)
    .set({ heardAt: new Date(now().getTime() + AFTER_FAULT_MS) })
    .where(and(eq(merchantId, named.merchantId), eq(invoiceId, named.id)));
}

async function bringUp(
  tx: Tx,
  desk: InvoiceDesk,
  named: Named,
  payments: readonly PaymentView[],
): Promise<boolean> {
  const [row] = await tx.select().from(invoice).where(isIt(named)).for("update", { skipLocked: true });
  if (!row) return false;
  const { merchantId, invoiceId } = invoiceNews;
  const news = await tx
    .delete(invoiceNews)
    .where(and(eq(merchantId, named.merchantId), eq(invoiceId, named.id)))
    .returning({ id: invoiceNews.factId });
  if (news.length === 0) return false;
  const money = await collectedOf(tx, row);
  await cancelOthers(tx, desk, row, { payments, isPaid: money.collected >= row.total });
  await settle(tx, desk, row, money);
  return true;
}

/** One payment is enough: the others are called off as long as nobody has sent anything. */
async function cancelOthers(
  tx: Tx,
  desk: InvoiceDesk,
  row: InvoiceRow,
  { payments, isPaid }: { readonly payments: readonly PaymentView[]; readonly isPaid: boolean },
): Promise<void> {
  const live = await liveIntents(tx, row);
  if (!isPaid && live.every(isUnfunded)) return;
  for (const intent of live.filter(isUnfunded)) await cancelUnfunded(tx, desk, intent, payments);
}

async function settle(tx: Tx, desk: InvoiceDesk, row: InvoiceRow, money: Collected): Promise<void> {
  const isEnough = money.collected >= row.total;
  if (isPayable(row.state) && isEnough) {
    const changes = { ...money, paidAt: desk.now(), remindAt: null };
    await moveInvoice(tx, desk, { row, trigger: "pay", changes });
  } else if (row.state === "paid" && !isEnough) {
    const changes = { ...money, paidAt: null, remindAt: nextReminder(row, desk.now()) };
    await moveInvoice(tx, desk, { row, trigger: "reopen", changes });
  } else if (money.collected !== row.collected || money.paid !== row.paid) {
    await changeInvoice(tx, desk, { row, changes: money, type: "invoice.updated" });
  }
}

function nextReminder({ sendEmail, issuedAt, dueAt }: InvoiceRow, now: Date): Date | null {
  return sendEmail && issuedAt && dueAt ? remindersAt({ issuedAt, dueAt }, now).nextAt : null;
}
