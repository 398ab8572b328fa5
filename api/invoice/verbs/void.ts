import type { PaymentView } from "#facilitator";
import type { Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { type InvoiceRow, presentInvoice } from "../present.ts";
import type { Invoice, InvoicePath } from "../schema.ts";
import type { InvoiceDesk } from "./desk.ts";
import { cancelUnfunded, liveIntents } from "./intents.ts";
import { lockInvoice, moveInvoice } from "./move.ts";

/** Takes an issued invoice back: nobody can pay it from the commit on. One that is void comes back as it is. Faults:
 *  `not_found`, `invoice_paid`, `invoice_payment_in_progress`, `invoice_state`. Source: merchant-api.md §1.6. */
export async function voidInvoice(
  desk: InvoiceDesk,
  { ctx, input, payments }: Call<InvoicePath> & { readonly payments: readonly PaymentView[] },
): Promise<Invoice> {
  ctx.demand("invoices:manage");
  return ctx.tx(async (tx) => {
    const row = await lockInvoice(tx, { merchantId: ctx.merchantId, id: input.id });
    return presentInvoice(row.state === "void" ? row : await voidLocked(tx, desk, row, payments), desk);
  });
}

/** The same for an invoice in hand that is not void. */
export async function voidLocked(
  tx: Tx,
  desk: InvoiceDesk,
  row: InvoiceRow,
  payments: readonly PaymentView[],
): Promise<InvoiceRow> {
  if (row.state === "draft")
    throw fault("invoice_state", { state: row.state, next: "Delete the draft instead." });
  if (row.state === "paid") throw fault("invoice_paid");
  for (const intent of await liveIntents(tx, row))
    if (!(await cancelUnfunded(tx, desk, intent, payments))) throw fault("invoice_payment_in_progress");
  // Whoever claims it waits here for us, and finds it closed; whoever was faster is found holding it.
  if (await desk.facilitator.once.lock(tx, row.id)) throw fault("invoice_payment_in_progress");
  const changes = { voidedAt: desk.now(), listed: false, remindAt: null };
  return moveInvoice(tx, desk, { row, trigger: "void", changes });
}
