import type { Content } from "../content.ts";
import type { Message, Messages, Template } from "../message.ts";
import type { Words } from "../words/index.ts";
import { invoiceDueSoon, invoiceDueToday, invoiceIssued, invoiceOverdue, invoicesIssued } from "./invoice.ts";
import {
  contactChanged,
  endpointDisabled,
  endpointFailing,
  endpointGone,
  merchantResumed,
  merchantSuspended,
  payoutAddressAdded,
} from "./merchant.ts";
import { paymentReturned, receipt, refundNeedsAddress, refundSucceeded } from "./payment.ts";

const templates: { readonly [T in Template]: (data: Messages[T], words: Words) => Content } = {
  "invoice-issued": invoiceIssued,
  "invoices-issued": invoicesIssued,
  "invoice-due-soon": invoiceDueSoon,
  "invoice-due-today": invoiceDueToday,
  "invoice-overdue-3": invoiceOverdue(3),
  "invoice-overdue-7": invoiceOverdue(7),
  "invoice-overdue-14": invoiceOverdue(14),
  receipt,
  "refund-needs-address": refundNeedsAddress,
  "refund-succeeded": refundSucceeded,
  "payment-returned": paymentReturned,
  "endpoint-failing-1": endpointFailing(1),
  "endpoint-failing-3": endpointFailing(3),
  "endpoint-disabled": endpointDisabled,
  "endpoint-gone": endpointGone,
  "payout-address-added": payoutAddressAdded,
  "contact-changed": contactChanged,
  "merchant-suspended": merchantSuspended,
  "merchant-resumed": merchantResumed,
};

export function contentOf({ template, data }: Message, words: Words): Content {
  // A table keyed by the template cannot be followed by the compiler; `Message` pairs the two.
  return (templates[template] as (data: Message["data"], words: Words) => Content)(data, words);
}
