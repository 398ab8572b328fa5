import { and, eq } from "drizzle-orm";
import { fixed, type Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { changesNothing } from "../../http/unchanged.ts";
import { type InvoiceRow, presentInvoice } from "../present.ts";
import { remindersAt } from "../reminders.ts";
import type { Invoice, InvoiceChange, InvoicePath } from "../schema.ts";
import { isPayable } from "../state.ts";
import { type Buyer, invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import type { firstReminder } from "./issue.ts";
import { type Bill, priceBill } from "./lines.ts";
import { changeInvoice, isIt, lockInvoice, moveInvoice } from "./move.ts";

/** Changes what may still change: of a draft everything, of what is issued what does not touch the money. What was already
 *  so is no change. Faults:
 *  `not_found`, `version_conflict`, `invoice_not_editable`, `due_date_invalid`, those of lines. */
export async function editInvoice(
  desk: InvoiceDesk,
  { ctx, input }: Call<InvoicePath & InvoiceChange>,
): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    if (input.version !== undefined && input.version !== row.version)
      throw fault("version_conflict", { currentVersion: row.version, pointer: "/version" });
    refuseFrozen(row, input);
    const changes = changesOf(desk, row, input);
    const changed = { ...changes, ...(await billOf(tx, row, input)) };
    if (changesNothing(row, changed)) return presentInvoice(row, desk);
    return presentInvoice(
      await changeInvoice(tx, desk, { row, changes: changed, type: "invoice.updated" }),
      desk,
    );
  });
}

/** In another currency nothing that was priced holds any more. */
async function billOf(
  tx: Tx,
  { merchantId, ...row }: InvoiceRow,
  { lines, currency = row.currency }: InvoiceChange,
): Promise<Bill | null> {
  if (lines === undefined) return null;
  const before = currency === row.currency ? row.lines : [];
  return priceBill(tx, { merchantId, currency, lines, before });
}

const FROZEN = ["currency", "lines", "daysUntilDue", "sendEmail"] as const;

/** How a merchant comes to an invoice that says something else. */
const INSTEAD = {
  open: "Void it and issue another one.",
  uncollectible: "Void it and issue another one.",
  paid: "Refund its payment and issue another one.",
  void: "Issue another one.",
} as const;

/** What was issued is mailed by a call of its own. */
const BY_MAIL = "POST /v1/invoices/{id}/send mails it.";

function refuseFrozen({ state }: InvoiceRow, input: InvoiceChange): void {
  if (state === "draft") return;
  const refuse = (field: string) => {
    const pointer = `/${field.replace(".", "/")}`;
    const next = field === "sendEmail" && isPayable(state) ? BY_MAIL : INSTEAD[state];
    throw fault("invoice_not_editable", { state, field, next, pointer });
  };
  const [first] = Object.keys(input).filter((key) => !["id", "version"].includes(key));
  if (!isPayable(state) && first !== undefined) refuse(first);
  const frozen = FROZEN.find((key) => input[key] !== undefined);
  if (frozen) refuse(frozen);
  if (input.buyer?.name !== undefined) refuse("buyer.name");
}

function changesOf(desk: InvoiceDesk, row: InvoiceRow, input: InvoiceChange): Partial<InvoiceRow> {
  const { notes, metadata, buyer, sendEmail } = input;
  const whole = buyer && { ...row.buyer, ...given(buyer) };
  const isMailed = sendEmail ?? row.sendEmail;
  if (isMailed && whole?.email === null) throw fault("buyer_email_required", { pointer: "/buyer/email" });
  if (sendEmail && (whole ?? row.buyer).email === null)
    throw fault("buyer_email_required", { pointer: "/buyer/email" });
  return {
    ...(notes !== undefined && { notes }),
    ...(metadata !== undefined && { metadata }),
    ...(whole && { buyer: whole }),
    ...(sendEmail !== undefined && { sendEmail }),
    ...datesOf(desk, row, input),
  };
}

function given(buyer: NonNullable<InvoiceChange["buyer"]>): Partial<Buyer> {
  return Object.fromEntries(Object.entries(buyer).filter(([, value]) => value !== undefined));
}

function datesOf(desk: InvoiceDesk, row: InvoiceRow, input: InvoiceChange): Partial<InvoiceRow> {
  if (row.state === "draft" && input.daysUntilDue !== undefined)
    return { daysUntilDue: input.daysUntilDue, dueAt: null };
  if (input.dueAt === undefined) return {};
  const [dueAt, now] = [new Date(input.dueAt), desk.now()];
  if (row.dueAt?.getTime() === dueAt.getTime()) return {};
  if (dueAt < now) throw fault("due_date_invalid", { why: "it is past", pointer: "/dueAt" });
  if (row.state === "draft") return { dueAt, daysUntilDue: null };
  if (row.dueAt && dueAt < row.dueAt)
    throw fault("due_date_invalid", {
      why: "an issued invoice is given more time, never less",
      pointer: "/dueAt",
    });
  const reminders =
    row.issuedAt && row.sendEmail ? remindersAt({ issuedAt: row.issuedAt, dueAt }, now) : null;
  return { dueAt, overdueAt: null, remindAt: reminders?.nextAt ?? null };
}

/** Deletes what was never issued. Faults: `not_found`, `invoice_state`. */
export async function deleteDraft(_desk: InvoiceDesk, { ctx, input }: Call<InvoicePath>): Promise<void> {
  ctx.demand("invoices:manage");
  await ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state !== "draft")
      throw fault("invoice_state", { state: row.state, next: "What was issued is voided, not deleted." });
    await tx.delete(invoice).where(and(isIt(row), fixed(eq(invoice.state, "draft"))));
  });
}

/** Has it mailed to the buyer, again where it was before. Faults: `not_found`, `invoice_state`, `buyer_email_required`. */
export async function sendInvoice(desk: InvoiceDesk, { ctx, input }: Call<InvoicePath>): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    const { state, buyer, issuedAt, dueAt } = row;
    if (!isPayable(state) || !issuedAt || !dueAt)
      throw fault("invoice_state", { state, next: "Only what is issued and not paid is sent." });
    if (buyer.email === null) throw fault("buyer_email_required", { pointer: "/buyer/email" });
    const remindAt = row.remindAt ?? firstReminderFrom(desk.now(), { issuedAt, dueAt });
    const changes = { sendEmail: true, remindAt };
    return presentInvoice(await changeInvoice(tx, desk, { row, changes, type: "invoice.sent" }), desk);
  });
}

function firstReminderFrom(now: Date, dates: Parameters<typeof firstReminder>[1]): Date | null {
  return remindersAt(dates, now).nextAt;
}

/** Gives up on its money; it can still be paid. Repeated it is as it is. Faults: `not_found`, `invoice_state`. */
export async function writeOff(desk: InvoiceDesk, { ctx, input }: Call<InvoicePath>): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    if (row.state === "uncollectible") return presentInvoice(row, desk);
    if (row.state !== "open")
      throw fault("invoice_state", { state: row.state, next: "Only an open invoice can be given up." });
    const changes = { remindAt: null };
    return presentInvoice(await moveInvoice(tx, desk, { row, trigger: "write-off", changes }), desk);
  });
}

/** Whether it is shown in the public index; in any state, since the index asks for itself what is payable. Faults:
 *  `not_found`, `rate_limited`. */
export async function setListed(
  desk: InvoiceDesk,
  { ctx, input }: Call<InvoicePath & { readonly listed: boolean }>,
): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    const { listed } = input;
    if (row.listed === listed) return presentInvoice(row, desk);
    if (listed) await ctx.countListing();
    const changes = { listed, wasListed: row.wasListed || listed };
    const changed = await changeInvoice(tx, desk, { row, changes, type: "invoice.updated" });
    return presentInvoice(changed, desk);
  });
}
