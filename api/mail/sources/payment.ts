import { and, eq, sql } from "drizzle-orm";
import { fixed } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { presentAmount } from "../../http/money.ts";
import { invoice } from "../../invoice/tables.ts";
import { merchant } from "../../merchant/tables.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { ofItsInvoice, payerEmail } from "./payer.ts";
import { aboutSubjects, isOneOf, type Source } from "./source.ts";

/** A receipt to the payer whose address is known. One for each clearing: money that a reorganisation took away and
 *  brought back was paid once. */
export const receipts: Source = async (tx, facts, { baseUrl }) => {
  const named = facts.filter(({ payload }) => payload.isAnonymous !== true);
  if (named.length === 0) return [];
  const rows = await tx
    .select({ intent: paymentIntent, clearing, email: payerEmail, contactEmail: merchant.contactEmail })
    .from(clearing)
    .innerJoin(
      paymentIntent,
      and(eq(paymentIntent.merchantId, clearing.merchantId), eq(paymentIntent.id, clearing.intentId)),
    )
    .leftJoin(invoice, ofItsInvoice)
    .innerJoin(merchant, eq(merchant.id, clearing.merchantId))
    .where(
      and(
        isOneOf(clearing.merchantId, clearing.id, aboutSubjects(named)),
        fixed(eq(paymentIntent.status, "completed")),
        sql`${payerEmail} IS NOT NULL`,
      ),
    );
  return rows.map(({ intent, clearing: paid, email, contactEmail }) => ({
    merchantId: paid.merchantId,
    cause: paid.id,
    to: email,
    template: "receipt",
    data: {
      seller: { name: intent.merchantName, contactEmail },
      payment: {
        id: intent.id,
        amount: presentAmount({ amount: intent.amount, asset: intent.currency }).formatted,
        paid: presentAmount({ amount: paid.settlementAmount, asset: paid.asset }).formatted,
        chain: paid.chain,
        transaction: paid.transactionHash,
        paidAt: (intent.completedAt ?? paid.updatedAt).toISOString(),
        reference: intent.merchantReference,
        url: `${baseUrl}/checkout/${intent.id}`,
      },
    },
  }));
};
