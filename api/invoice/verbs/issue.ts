import { sql } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { outbox, type Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { MerchantRow } from "../../merchant/verbs/merchant.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { type InvoiceRow, presentInvoice } from "../present.ts";
import { remindersAt } from "../reminders.ts";
import type { Invoice, InvoicePath } from "../schema.ts";
import { invoice, merchantCounter } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { type Changer, factOf, lockInvoice, moveInvoice } from "./move.ts";
import { publishInvoice } from "./publish.ts";
import { sellerOf } from "./seller.ts";

const DAY_MS = 86_400_000;
const DAYS_UNTIL_DUE = 30;

/** Gives a draft its number and freezes what it asks for, and who asks. Faults: `not_found`, `invoice_state`, `due_date_invalid`. */
export async function issueInvoice(desk: InvoiceDesk, { ctx, input }: Call<InvoicePath>): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state !== "draft")
      throw fault("invoice_state", { state: row.state, next: "Only a draft is issued, and only once." });
    const merchant = await findMerchant(tx, ctx.merchantId);
    return presentInvoice(await issueDraft(tx, desk, row, merchant), desk);
  });
}

/** The same for a draft in hand. One that is to be mailed has an address: it is neither made nor changed without. */
export async function issueDraft(
  tx: Tx,
  changer: Changer,
  row: InvoiceRow,
  merchant: MerchantRow,
): Promise<InvoiceRow> {
  const issuedAt = changer.now();
  const dates = datesOf(row, issuedAt);
  const changes = {
    ...(await nextNumber(tx, row.merchantId, merchant.invoicePrefix, issuedAt)),
    ...dates,
    ...sellerOf(merchant),
    remindAt: firstReminder(row, dates),
  };
  const payload = { sendEmail: row.sendEmail, batch: null, isLastOfBatch: true };
  return moveInvoice(tx, changer, { row, trigger: "issue", changes, payload });
}

interface Dates {
  readonly issuedAt: Date;
  readonly dueAt: Date;
}

function datesOf({ dueAt, daysUntilDue }: Pick<InvoiceRow, "dueAt" | "daysUntilDue">, issuedAt: Date): Dates {
  if (dueAt && dueAt < issuedAt)
    throw fault("due_date_invalid", { why: "it is past; send a later dueAt with PATCH", pointer: "/dueAt" });
  const days = daysUntilDue ?? DAYS_UNTIL_DUE;
  return { issuedAt, dueAt: dueAt ?? new Date(issuedAt.getTime() + days * DAY_MS) };
}

/** Only what we mailed is reminded of. */
export function firstReminder({ sendEmail }: Pick<InvoiceRow, "sendEmail">, dates: Dates): Date | null {
  return sendEmail ? remindersAt(dates, dates.issuedAt).nextAt : null;
}

/** The next number of the merchant. Whoever asks next waits until this transaction ends, so a rollback leaves no gap. */
async function nextNumber(
  tx: Tx,
  merchantId: string,
  prefix: string,
  at: Date,
): Promise<Pick<InvoiceRow, "sequence" | "number">> {
  const [row] = await tx
    .insert(merchantCounter)
    .values({ merchantId, name: "invoice", value: 1 })
    .onConflictDoUpdate({
      target: [merchantCounter.merchantId, merchantCounter.name],
      set: { value: sql`${merchantCounter.value} + 1` },
    })
    .returning({ value: merchantCounter.value });
  assert(row, "a counter counts");
  const number = `${prefix}-${at.getUTCFullYear()}-${String(row.value).padStart(6, "0")}`;
  return { sequence: row.value, number };
}

/** An invoice that was never a draft: a cycle of a subscription. */
export interface BornIssued {
  readonly row: Omit<InvoiceRow, "sequence" | "number" | "issuedAt" | "dueAt" | "remindAt" | "state"> & {
    readonly daysUntilDue: number;
  };
  readonly prefix: string;
  readonly batch: string | null;
  readonly isLastOfBatch: boolean;
}

/** Writes it down and tells of it, in the transaction of the cycle. */
export async function insertIssued(
  tx: Tx,
  changer: Changer,
  { row, prefix, batch, isLastOfBatch }: BornIssued,
): Promise<InvoiceRow> {
  const dates = datesOf({ dueAt: null, daysUntilDue: row.daysUntilDue }, row.createdAt);
  const named = await nextNumber(tx, row.merchantId, prefix, row.createdAt);
  const [made] = await tx
    .insert(invoice)
    .values({ ...row, ...named, ...dates, state: "open", remindAt: firstReminder(row, dates) })
    .returning();
  assert(made, "an invoice that was written is there");
  await publishInvoice(changer, tx, made);
  const payload = { previous: null, sendEmail: made.sendEmail, batch, isLastOfBatch };
  // Told in the order of their ids, and these are of one moment.
  const ids = [changer.newId("evt"), changer.newId("evt")].sort();
  const facts = [
    factOf(changer.newId, made, { type: "invoice.created", previous: null }),
    factOf(changer.newId, made, { type: "invoice.issued", ...payload }),
  ];
  await outbox.append(
    tx,
    facts.map((fact, i) => ({ ...fact, id: ids[i] ?? fact.id })),
  );
  return made;
}
