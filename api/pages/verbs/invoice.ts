import type { Tx } from "#store";
import type { Edge } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { isPayable } from "../../invoice/state.ts";
import { checkCheckout, checkoutInvoice } from "../../invoice/verbs/checkout.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { paymentUnderWay } from "../../invoice/verbs/intents.ts";
import { findByAddress } from "../../invoice/verbs/read.ts";

export { type OpenInvoice, openInvoice } from "../../invoice/verbs/read.ts";

/** Makes the intent of what is owed, or finds the one that waits for it or for its rest; its id. Faults: those of the
 *  invoice's checkout. */
export async function payInvoice(
  desk: InvoiceDesk,
  { newId }: Pick<Edge, "newId">,
  id: string,
): Promise<string> {
  const row = await findByAddress(desk, id);
  const underWay = isPayable(row.state) ? await paymentUnderWay(desk.db.pool, row) : null;
  if (underWay?.intentId) return underWay.intentId;
  if (underWay) throw fault("invoice_payment_in_progress");
  const input = { executionPath: "deposit-match" as const };
  const checked = await checkCheckout(desk, row, input);
  const making = { newId, now: desk.now, tx: <T>(work: (tx: Tx) => Promise<T>) => desk.db.tx(work) };
  const { intent } = await checkoutInvoice(desk, { making, row, input, checked, write: null });
  return intent.id;
}
