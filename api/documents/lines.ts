import type { Executor } from "#store";
import { linesOf as linesOfCart } from "../cart/verbs.ts";
import { presentAmount } from "../http/money.ts";
import { findInvoice } from "../invoice/verbs/move.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import type { Sheet } from "./page.ts";

/** What is sold; the price in atomic units of the document's currency. */
export interface SoldLine {
  readonly name: string;
  readonly quantity: number;
  readonly unitPrice: bigint;
}

/** Whether it was made to pay an invoice. */
export function isOfInvoice({ source, metadata }: IntentRow): boolean {
  return (source === "invoice" || source === "subscription") && metadata.invoiceId !== undefined;
}

/** What a payment is for, where that was kept line by line: of its cart, or of the invoice that it pays. */
export async function linesOf(db: Executor, intent: IntentRow): Promise<readonly SoldLine[]> {
  const { merchantId, metadata } = intent;
  if (isOfInvoice(intent)) {
    const { lines } = await findInvoice(db, { merchantId, id: metadata.invoiceId ?? "" });
    return lines.map(({ name, quantity, unitPrice }) => ({ name, quantity, unitPrice: BigInt(unitPrice) }));
  }
  const lines = (await linesOfCart(db, intent)) ?? [];
  return lines.map(({ name, quantity, unitPrice }) => ({ name, quantity, unitPrice: unitPrice.amount }));
}

export function totalOf(lines: readonly SoldLine[]): bigint {
  return lines.reduce((sum, { unitPrice, quantity }) => sum + unitPrice * BigInt(quantity), 0n);
}

export function writeLines(sheet: Sheet, lines: readonly SoldLine[], currency: string): void {
  const money = (amount: bigint) => presentAmount({ amount, asset: currency }).formatted;
  const rows = lines.map((line) => [
    line.name,
    String(line.quantity),
    money(line.unitPrice),
    money(totalOf([line])),
  ]);
  sheet.heading("Lines");
  sheet.table([6, 2, 3, 3], [["Description", "Quantity", "Unit price", "Amount"], ...rows]);
}
