import { and, eq, inArray, sql } from "drizzle-orm";
import { Fault } from "#kernel/fault";
import { isId } from "#kernel/id";
import { fixed } from "#store";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { demandPrice } from "../../payment-intent/verbs/create.ts";
import type { InvoiceRow } from "../present.ts";
import { checkCheckout, checkoutInvoice } from "./checkout.ts";
import type { InvoiceDesk } from "./desk.ts";
import { invoiceSources } from "./intents.ts";
import { findInvoice } from "./move.ts";

/** An agent who pays an invoice, and what the payment is meant for, where it is one. */
interface AgentVisit {
  readonly id: string;
  /** The intent that it names. */
  readonly named: string | null;
  /** What its authorization was claimed for. */
  readonly bound: string | null;
}

/** The intent by which an agent pays an invoice in a currency without a coin at parity, at a rate that is locked for it: the
 *  one that its payment names or is bound to, or one for what is owed. Null for what is not there, for a payment
 *  that names something else, and where nobody may be asked to pay. Faults: those of a checkout, `rate_unavailable`. */
export async function deriveIntent(
  desk: InvoiceDesk,
  { id, named, bound }: AgentVisit,
): Promise<string | null> {
  const offer = await desk.facilitator.offer({ by: "id", id });
  if (!offer) return null;
  const row = await findInvoice(desk.db.pool, { merchantId: offer.payable.merchantId, id });
  if (named !== null) return (await isOfInvoice(desk, row, named)) ? named : null;
  if (bound !== null && (await isOfInvoice(desk, row, bound))) return bound;
  if (offer.state !== "open") return null;
  const input = { executionPath: "x402" as const };
  const checked = await checkCheckout(desk, row, input);
  demandPrice(checked);
  const making = { ...desk, tx: desk.db.tx };
  try {
    const { intent } = await checkoutInvoice(desk, { making, row, input, checked, write: null });
    return intent.id;
  } catch (error) {
    // Somebody began to pay since the offer was read.
    if (error instanceof Fault && error.code === "invoice_payment_in_progress") return null;
    throw error;
  }
}

async function isOfInvoice({ db }: InvoiceDesk, row: InvoiceRow, intentId: string): Promise<boolean> {
  if (!isId("pi", intentId)) return false;
  const [made] = await db.pool
    .select({ id: paymentIntent.id })
    .from(paymentIntent)
    .where(
      and(
        eq(paymentIntent.merchantId, row.merchantId),
        eq(paymentIntent.id, intentId),
        fixed(inArray(paymentIntent.source, [...invoiceSources])),
        sql`metadata->>'invoiceId' = ${row.id}`,
      ),
    );
  return made !== undefined;
}
