import { presentAmount } from "../http/money.ts";
import { type InvoiceState, isPayable, outstandingOf, refundedPart } from "../invoice/state.ts";
import type { InvoiceRefunds } from "../invoice/verbs/money.ts";
import { type InvoiceRow, invoiceUrl } from "../invoice/verbs/read.ts";
import { writeLines } from "./lines.ts";
import { type Drawn, openSheet, type Sheet } from "./page.ts";
import { stampsOfRefund } from "./refunded.ts";
import { day, merchantLine } from "./words.ts";

const stamps: Readonly<
  Record<InvoiceState, { readonly word: string; readonly mood: "good" | "over" } | null>
> = {
  draft: { word: "DRAFT", mood: "over" },
  open: null,
  paid: { word: "PAID", mood: "good" },
  void: { word: "VOID", mood: "over" },
  uncollectible: { word: "UNCOLLECTIBLE", mood: "over" },
};

interface Printing extends Drawn {
  readonly isForBuyer: boolean;
  readonly refunds: InvoiceRefunds;
}

/** An invoice as its buyer keeps it; for others without the buyer and what was noted for them. Source: merchant-api.md
 *  §7. */
export async function invoicePdf(
  row: InvoiceRow,
  { baseUrl, head, isForBuyer, refunds }: Printing,
): Promise<Uint8Array> {
  const name = row.number ?? row.id;
  const sheet = await openSheet({ title: `Invoice ${name}`, at: row.issuedAt ?? row.createdAt, head });
  const part = refundedPart(row, refunds.arrived);
  const stamp = part ? stampsOfRefund[part] : stamps[row.state];
  if (stamp) sheet.stamp(stamp.word, stamp.mood);
  sheet.title("Invoice", merchantLine(row));
  writeHead(sheet, row);
  writeSeller(sheet, row);
  if (isForBuyer) writeBuyer(sheet, row);
  writeMoney(sheet, row, refunds);
  if (isForBuyer && row.notes !== null) {
    sheet.heading("Notes");
    sheet.paragraph(row.notes);
  }
  if (isPayable(row.state)) sheet.code(invoiceUrl(baseUrl, row), "Pay here, from any wallet or by an agent:");
  return sheet.end();
}

function writeHead(sheet: Sheet, row: InvoiceRow): void {
  sheet.row("Number", row.number ?? "given when it is issued", "strong");
  if (row.issuedAt) sheet.row("Issued", day(row.issuedAt));
  if (row.dueAt) sheet.row("Due", day(row.dueAt));
  if (row.paidAt) sheet.row("Paid", day(row.paidAt));
  if (row.voidedAt) sheet.row("Voided", day(row.voidedAt));
  if (row.periodStart && row.periodEnd)
    sheet.row("Period", `${day(row.periodStart)} to ${day(row.periodEnd)}`);
}

/** Name and place stand above already; where there is no more to tell, that is all. */
function writeSeller(sheet: Sheet, { merchantName, merchantTaxId, merchantAddress }: InvoiceRow): void {
  if (merchantTaxId === null && merchantAddress === null) return;
  sheet.heading("Billed by");
  sheet.row("Name", merchantName);
  if (merchantTaxId !== null) sheet.row("Tax id", merchantTaxId);
  if (merchantAddress !== null) sheet.row("Address", merchantAddress);
}

function writeBuyer(sheet: Sheet, { buyer }: InvoiceRow): void {
  sheet.heading("Billed to");
  sheet.row("Name", buyer.name);
  if (buyer.email !== null) sheet.row("E-mail", buyer.email);
  if (buyer.taxId !== null) sheet.row("Tax id", buyer.taxId);
  if (buyer.address !== null) sheet.row("Address", buyer.address);
}

function writeMoney(sheet: Sheet, row: InvoiceRow, { arrived, underWay }: InvoiceRefunds): void {
  const money = (amount: bigint) => presentAmount({ amount, asset: row.currency }).formatted;
  const lines = row.lines.map((line) => ({ ...line, unitPrice: BigInt(line.unitPrice) }));
  writeLines(sheet, lines, row.currency);
  sheet.row("Total", money(row.total), "strong");
  if (row.collected > 0n) sheet.row("Paid so far", money(row.collected));
  if (arrived > 0n) sheet.row("Refunded", money(arrived));
  if (underWay > 0n) sheet.row("Refund under way", money(underWay));
  if (isPayable(row.state)) sheet.row("Amount due", money(outstandingOf(row)), "strong");
}
