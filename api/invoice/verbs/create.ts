import { assert } from "#kernel/fault";
import { outbox } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { findMerchant, type MerchantRow } from "../../merchant/verbs/merchant.ts";
import { type InvoiceRow, presentInvoice } from "../present.ts";
import type { Invoice, InvoiceInput } from "../schema.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { issueDraft } from "./issue.ts";
import { type Bill, priceBill } from "./lines.ts";
import { factOf } from "./move.ts";
import { sellerOf } from "./seller.ts";

/** Makes a draft, or an issued invoice where that is asked for. Faults: those of its lines, `due_date_invalid`. */
export async function createInvoice(desk: InvoiceDesk, { ctx, input }: Call<InvoiceInput>): Promise<Invoice> {
  ctx.demand("invoices:manage");
  const { merchantId } = ctx;
  return ctx.tx(async (tx) => {
    const merchant = await findMerchant(tx, merchantId);
    const bill = await priceBill(tx, { merchantId, ...input });
    const [made] = await tx
      .insert(invoice)
      .values(draftOf(desk, merchant, input, bill))
      .returning();
    assert(made, "an invoice that was written is there");
    await outbox.append(tx, [factOf(desk.newId, made, { type: "invoice.created", previous: null })]);
    return presentInvoice(input.issue ? await issueDraft(tx, desk, made, merchant) : made, desk);
  });
}

function draftOf(desk: InvoiceDesk, merchant: MerchantRow, input: InvoiceInput, bill: Bill): InvoiceRow {
  const createdAt = desk.now();
  const { buyer } = input;
  const dueAt = input.dueAt === undefined ? null : new Date(input.dueAt);
  if (dueAt && dueAt < createdAt) throw fault("due_date_invalid", { why: "it is past", pointer: "/dueAt" });
  return {
    ...blank,
    ...bill,
    ...sellerOf(merchant),
    merchantId: merchant.id,
    id: desk.newId("inv"),
    state: "draft",
    buyer: {
      name: buyer.name,
      email: buyer.email ?? null,
      taxId: buyer.taxId ?? null,
      address: buyer.address ?? null,
    },
    notes: input.notes ?? null,
    metadata: input.metadata ?? {},
    daysUntilDue: input.daysUntilDue ?? null,
    dueAt,
    sendEmail: input.sendEmail,
    createdAt,
    updatedAt: createdAt,
  };
}

/** What a new invoice has not yet. */
export const blank = {
  sequence: null,
  number: null,
  collected: 0n,
  paid: 0n,
  remindersHeld: false,
  remindAt: null,
  overdueAt: null,
  listed: false,
  wasListed: false,
  subscriptionId: null,
  cycleIndex: null,
  periodStart: null,
  periodEnd: null,
  version: 1,
  issuedAt: null,
  paidAt: null,
  voidedAt: null,
} as const;
