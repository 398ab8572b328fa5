import type { Call } from "../../http/context.ts";
import { checkAmount } from "../../payment-intent/verbs/rails.ts";
import type { InvoiceInput, InvoicePath } from "../schema.ts";
import type { InvoiceDesk } from "./desk.ts";
import { type Bill, priceBill } from "./lines.ts";
import { findInvoice } from "./move.ts";

/** Refuses a new invoice that is to be issued and that nobody could pay. May ask for rates, so it comes before the
 *  transaction. Faults: those of lines, `amount_too_large`. Source: merchant-api.md §3.5. */
export async function checkNew(desk: InvoiceDesk, { ctx, input }: Call<InvoiceInput>): Promise<void> {
  ctx.demand("invoices:manage");
  if (!input.issue) return;
  const { merchantId } = ctx;
  await checkTotal(desk, await ctx.db.tx((tx) => priceBill(tx, { merchantId, ...input })));
}

/** The same for a draft. Faults: `not_found`, `amount_too_small`, `amount_too_large`. */
export async function checkDraft(desk: InvoiceDesk, { ctx, input }: Call<InvoicePath>): Promise<void> {
  ctx.demand("invoices:manage");
  const row = await findInvoice(ctx.db.pool, { merchantId: ctx.merchantId, id: input.id });
  if (row.state === "draft") await checkTotal(desk, row);
}

function checkTotal(
  { rates }: Pick<InvoiceDesk, "rates">,
  { total: amount, currency: asset }: Pick<Bill, "total" | "currency">,
): Promise<void> {
  return checkAmount({ rates }, { amount, asset }, { executionPath: "deposit-match", pointer: "/lines" });
}
