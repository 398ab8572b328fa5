import type { Money } from "#kernel/money";
import { presentAmount } from "../http/money.ts";
import type { Invoice } from "./schema.ts";
import { outstandingOf, statusOf } from "./state.ts";
import type { invoice } from "./tables.ts";

export type InvoiceRow = typeof invoice.$inferSelect;

/** What showing an invoice needs: whether it is overdue goes by the merchants' clock. */
export interface Shown {
  readonly baseUrl: string;
  readonly now: () => Date;
}

/** Where a buyer reads and pays it. */
export function invoiceUrl(baseUrl: string, { id }: Pick<InvoiceRow, "id">): string {
  return `${baseUrl}/invoices/${id}/view`;
}

/** As its merchant sees it. Source: interface §2.7. */
export function presentInvoice(row: InvoiceRow, { baseUrl, now }: Shown): Invoice {
  const money = (amount: bigint): Money => ({ amount, asset: row.currency });
  return {
    id: row.id,
    merchantId: row.merchantId,
    merchant: {
      id: row.merchantId,
      name: row.merchantName,
      city: row.merchantCity,
      countryCode: row.merchantCountryCode,
      categoryCode: row.merchantCategoryCode,
      taxId: row.merchantTaxId,
      address: row.merchantAddress,
    },
    number: row.number,
    sequence: row.sequence,
    state: row.state,
    status: statusOf(row, now()),
    buyer: { ...row.buyer },
    currency: row.currency,
    lines: row.lines.map(({ unitPrice, ...line }) => ({
      ...line,
      unitPrice: presentAmount(money(BigInt(unitPrice))),
    })),
    total: presentAmount(money(row.total)),
    paid: presentAmount(money(row.paid)),
    outstanding: presentAmount(money(outstandingOf(row))),
    notes: row.notes,
    metadata: { ...row.metadata },
    url: invoiceUrl(baseUrl, row),
    sendEmail: row.sendEmail,
    subscriptionId: row.subscriptionId,
    cycle: cycleOf(row),
    issuedAt: row.issuedAt?.toISOString() ?? null,
    dueAt: row.dueAt?.toISOString() ?? null,
    paidAt: row.paidAt?.toISOString() ?? null,
    voidedAt: row.voidedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
    listed: row.listed,
  };
}

function cycleOf({ cycleIndex, periodStart, periodEnd }: InvoiceRow): Invoice["cycle"] {
  if (cycleIndex === null || !periodStart || !periodEnd) return null;
  return { index: cycleIndex, startsAt: periodStart.toISOString(), endsAt: periodEnd.toISOString() };
}
