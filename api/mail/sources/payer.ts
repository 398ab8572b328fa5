import { and, eq, sql } from "drizzle-orm";
import { invoice } from "../../invoice/tables.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";

/** Join it, left, to find who is to be told of a payment. Other intents may name an invoice as their merchants please. */
export const ofItsInvoice = and(
  sql`${paymentIntent.source} IN ('invoice', 'subscription')`,
  eq(invoice.merchantId, paymentIntent.merchantId),
  eq(invoice.id, sql`${paymentIntent.metadata}->>'invoiceId'`),
);

/** The address that came with the intent, else that of the invoice's buyer. An agent that buys a resource has neither. */
export const payerEmail = sql<string>`coalesce(${paymentIntent.customer}->>'email', ${invoice.buyer}->>'email')`;
