import { and, eq, gte, lte, sql } from "drizzle-orm";
import type { outbox, Tx } from "#store";
import { presentAmount } from "../../http/money.ts";
import { isPayable, outstandingOf } from "../../invoice/state.ts";
import { invoice } from "../../invoice/tables.ts";
import { merchant } from "../../merchant/tables.ts";
import type { Draft, InvoiceMail } from "../message.ts";
import { aboutSubjects, isOneOf, type Source } from "./source.ts";

type InvoiceRow = typeof invoice.$inferSelect;
interface Found {
  readonly row: InvoiceRow;
  readonly contactEmail: string | null;
}

/** An invoice with its pay link, where its merchant wants it mailed. Cycles that were issued together after a downtime
 *  come as one mail to each address that they are for, called for by the last of them, or by what cut them short. */
export const issuedInvoices: Source = async (tx, facts, { baseUrl }) => {
  const mailed = facts.filter(({ payload }) => payload.sendEmail === true && !isFollowed(payload));
  const found = await find(tx, mailed);
  const drafts: Draft[] = [];
  for (const { subject, payload } of mailed) {
    const one = found.get(subject);
    if (!one) continue;
    const batch = batchOf(payload);
    const together = batch === null ? [one.row] : await cyclesFrom(tx, batch, one.row);
    for (const rows of byAddress(together)) drafts.push(...issued(rows, one, { baseUrl }));
  }
  return drafts;
};

const batchOf = ({ batch }: outbox.Fact["payload"]): string | null =>
  typeof batch === "string" ? batch : null;

/** Another one of its batch comes after it. */
const isFollowed = (payload: outbox.Fact["payload"]) =>
  batchOf(payload) !== null && payload.isLastOfBatch !== true;

function byAddress(rows: readonly InvoiceRow[]): readonly (readonly InvoiceRow[])[] {
  const emails = new Set(rows.map(({ buyer }) => buyer.email));
  return [...emails].map((email) => rows.filter(({ buyer }) => buyer.email === email));
}

/** Invoices to one address, called for by the first of them where nothing else is the cause. */
function issued(
  rows: readonly InvoiceRow[],
  { contactEmail }: Pick<Found, "contactEmail">,
  { baseUrl, cause }: { readonly baseUrl: string; readonly cause?: string },
): readonly Draft[] {
  const [row] = rows;
  const addressed = row && addressedTo(row, contactEmail, cause ?? row.id);
  if (!addressed) return [];
  const { seller, ...to } = addressed;
  const invoices = rows.filter(({ state }) => isPayable(state)).map((each) => mailOf(each, baseUrl));
  const [first, second] = invoices;
  if (!first) return [];
  return second
    ? [{ ...to, template: "invoices-issued", data: { seller, invoices } }]
    : [{ ...to, template: "invoice-issued", data: { seller, invoice: first } }];
}

/** The merchant has it mailed again: each time is a cause of its own. */
export const sentInvoices: Source = async (tx, facts, { baseUrl }) => {
  const found = await find(tx, facts);
  return facts.flatMap(({ id, subject }) => {
    const one = found.get(subject);
    return one ? issued([one.row], one, { baseUrl, cause: id }) : [];
  });
};

/** Reminders, by the names under which invoices call for them. */
const reminders = {
  "due-in-3-days": "invoice-due-soon",
  "due-today": "invoice-due-today",
  "overdue-3": "invoice-overdue-3",
  "overdue-7": "invoice-overdue-7",
  "overdue-14": "invoice-overdue-14",
} as const;

/** A reminder of what is still owed; none once it was paid or taken back. */
export const invoiceReminders: Source = async (tx, facts, { baseUrl }) => {
  const found = await find(tx, facts);
  return facts.flatMap(({ subject, payload }) => {
    const one = found.get(subject);
    const template = Object.entries(reminders).find(([name]) => name === payload.template)?.[1];
    const addressed = one && isPayable(one.row.state) && addressedTo(one.row, one.contactEmail, subject);
    if (!addressed || !template) return [];
    const { seller, ...to } = addressed;
    return [{ ...to, template, data: { seller, invoice: mailOf(one.row, baseUrl) } }];
  });
};

/** By id. */
async function find(tx: Tx, facts: readonly outbox.Fact[]): Promise<ReadonlyMap<string, Found>> {
  if (facts.length === 0) return new Map();
  const rows = await tx
    .select({ row: invoice, contactEmail: merchant.contactEmail })
    .from(invoice)
    .innerJoin(merchant, eq(merchant.id, invoice.merchantId))
    .where(isOneOf(invoice.merchantId, invoice.id, aboutSubjects(facts)));
  return new Map(rows.map((found) => [found.row.id, found]));
}

/** The cycles of a subscription from the first of a batch, which is named after it, to this one. */
async function cyclesFrom(
  tx: Tx,
  batch: string,
  { merchantId, subscriptionId, cycleIndex }: InvoiceRow,
): Promise<readonly InvoiceRow[]> {
  if (subscriptionId === null || cycleIndex === null) return [];
  const first = tx
    .select({ cycleIndex: invoice.cycleIndex })
    .from(invoice)
    .where(and(eq(invoice.merchantId, merchantId), sql`${invoice.id} = ${batch}`));
  return tx
    .select()
    .from(invoice)
    .where(
      and(
        eq(invoice.merchantId, merchantId),
        eq(invoice.subscriptionId, subscriptionId),
        gte(invoice.cycleIndex, first),
        lte(invoice.cycleIndex, cycleIndex),
      ),
    )
    .orderBy(invoice.cycleIndex);
}

function addressedTo(
  { merchantId, merchantName, buyer }: InvoiceRow,
  contactEmail: string | null,
  cause: string,
) {
  if (buyer.email === null) return null;
  return { merchantId, cause, to: buyer.email, seller: { name: merchantName, contactEmail } };
}

function mailOf(row: InvoiceRow, baseUrl: string): InvoiceMail {
  const written = (amount: bigint) => presentAmount({ amount, asset: row.currency }).formatted;
  const issuedAt = row.issuedAt ?? row.createdAt;
  return {
    number: row.number ?? row.id,
    lines: row.lines.map(({ name, quantity, unitPrice }) => ({
      name,
      quantity,
      amount: written(BigInt(unitPrice) * BigInt(quantity)),
    })),
    total: written(row.total),
    outstanding: written(outstandingOf(row)),
    issuedAt: issuedAt.toISOString(),
    dueAt: (row.dueAt ?? issuedAt).toISOString(),
    url: `${baseUrl}/invoices/${row.id}/view`,
    buyerName: row.buyer.name,
    notes: row.notes,
  };
}
