import type { Tool } from "../tool.ts";
import { getPayable } from "./get-payable.ts";
import { getPaymentRequired } from "./get-payment-required.ts";
import { getPaymentStatus } from "./get-payment-status.ts";
import { payPayable } from "./pay-payable.ts";
import { quotePayment } from "./quote-payment.ts";
import { searchPayables } from "./search-payables.ts";
import { searchResources } from "./search-resources.ts";
import { settlePayment } from "./settle-payment.ts";
import { verifyPayment } from "./verify-payment.ts";

/** Every tool, in the order of the list. It never changes at run time. */
export const tools: readonly Tool[] = [
  searchResources,
  getPaymentRequired,
  searchPayables,
  getPayable,
  quotePayment,
  verifyPayment,
  settlePayment,
  getPaymentStatus,
  payPayable,
];
