import { and, asc, eq, inArray } from "drizzle-orm";
import { fixed } from "#store";
import { invoiceStates, isPayable } from "../state.ts";
import { invoice } from "../tables.ts";
import type { InvoiceDesk } from "./desk.ts";
import { lockInvoice } from "./move.ts";
import { publishInvoice } from "./publish.ts";

export type Republishing = Pick<InvoiceDesk, "db" | "facilitator" | "baseUrl">;

/** Tells the facilitator anew of what a merchant's unpaid invoices can be paid with by agents, after its rails changed. Each
 *  is locked first, so that a change of the invoice meanwhile does not bring the old rails back. */
export async function republishInvoices(
  desk: Republishing,
  merchantId: string,
  stopping: AbortSignal,
): Promise<void> {
  const { db } = desk;
  const payable = fixed(inArray(invoice.state, invoiceStates.filter(isPayable)));
  const ids = await db.pool
    .select({ id: invoice.id })
    .from(invoice)
    .where(and(eq(invoice.merchantId, merchantId), payable))
    .orderBy(asc(invoice.id));
  for (const { id } of ids) {
    // Thrown, so that the rest is done by another run.
    if (stopping.aborted) throw new Error("stopped");
    await db.tx(async (tx) => publishInvoice(desk, tx, await lockInvoice(tx, { merchantId, id })));
  }
}
