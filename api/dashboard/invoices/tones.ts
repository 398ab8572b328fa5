import type { InvoiceStatus } from "../../invoice/state.ts";
import type { Tone } from "../view/shown.tsx";

export const toneOfInvoice: Readonly<Record<InvoiceStatus, Tone>> = {
  draft: "quiet",
  open: "busy",
  "partially-paid": "busy",
  paid: "good",
  overdue: "warn",
  void: "quiet",
  uncollectible: "bad",
};
