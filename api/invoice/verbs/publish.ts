import type { Payable } from "#facilitator";
import type { Tx } from "#store";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { offeredOn } from "../../merchant/verbs/rails.ts";
import { atAgentUrl } from "../../payment-intent/verbs/payable.ts";
import { priceOf } from "../../payment-intent/verbs/rails.ts";
import { type InvoiceRow, invoiceUrl } from "../present.ts";
import { isPayable, outstandingOf } from "../state.ts";
import type { InvoiceDesk } from "./desk.ts";

/** Tells the facilitator what can be paid, in the transaction that made it so; of a draft nothing is told. A buyer's name
 *  never stands in it, whoever may read an index. In a currency without a coin of its own it has no rail that an
 *  agent could be offered: a visit of its agent URL makes an intent, and those meet here. */
export async function publishInvoice(
  { facilitator, baseUrl }: Pick<InvoiceDesk, "facilitator" | "baseUrl">,
  tx: Tx,
  row: InvoiceRow,
): Promise<void> {
  if (row.state === "draft") return;
  const rails = offeredOn(await findMerchant(tx, row.merchantId), []);
  const isOpen = isPayable(row.state);
  const left = { amount: isOpen ? outstandingOf(row) : row.total, asset: row.currency };
  const payable: Payable = {
    ...atAgentUrl(baseUrl, row),
    kind: "invoice",
    title: `Invoice ${row.number}`,
    description: `Invoice ${row.number} of ${row.merchantName}`,
    price: priceOf(left),
    rails,
    feeBps: row.feeBps,
    once: true,
    listed: row.listed,
    closedAt: isOpen ? null : row.updatedAt,
    closedAs: isOpen ? null : row.state,
    expiresAt: null,
    number: row.number,
    dueAt: row.dueAt,
    pageUrl: invoiceUrl(baseUrl, row),
    createdAt: row.issuedAt ?? row.createdAt,
    updatedAt: row.updatedAt,
  };
  await facilitator.project(tx, payable);
}
