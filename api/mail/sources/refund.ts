import { and, eq, sql } from "drizzle-orm";
import { checksum } from "#kernel/bytes";
import { presentAmount } from "../../http/money.ts";
import { invoice } from "../../invoice/tables.ts";
import { merchant } from "../../merchant/tables.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import type { RefundState } from "../../refund/state.ts";
import { refund } from "../../refund/tables.ts";
import { ofItsInvoice, payerEmail } from "./payer.ts";
import { aboutSubjects, isOneOf, type Source } from "./source.ts";

/** A notice to the payer whose money is back. */
export const paidRefunds = refundsThat("succeeded", "refund-succeeded");
/** A request to the payer to say where it goes. */
export const waitingRefunds = refundsThat("requires-destination", "refund-needs-address");

function refundsThat(state: RefundState, template: "refund-succeeded" | "refund-needs-address"): Source {
  return async (tx, facts, { baseUrl, explorerUrl }) => {
    const rows = await tx
      .select({ refund, intent: paymentIntent, email: payerEmail, contactEmail: merchant.contactEmail })
      .from(refund)
      .innerJoin(
        paymentIntent,
        and(eq(paymentIntent.merchantId, refund.merchantId), eq(paymentIntent.id, refund.intentId)),
      )
      .leftJoin(invoice, ofItsInvoice)
      .innerJoin(merchant, eq(merchant.id, refund.merchantId))
      .where(
        and(
          isOneOf(refund.merchantId, refund.id, aboutSubjects(facts)),
          eq(refund.state, state),
          sql`${payerEmail} IS NOT NULL`,
        ),
      );
    return rows.map(({ refund: row, intent, email, contactEmail }) => {
      const transaction = row.provider === "evm" ? row.providerReference : null;
      return {
        merchantId: row.merchantId,
        cause: row.id,
        to: email,
        template,
        data: {
          seller: { name: intent.merchantName, contactEmail },
          refund: {
            id: row.id,
            amount: presentAmount({ amount: row.amount, asset: row.asset }).formatted,
            chain: row.chain,
            destination: row.destination && checksum(row.destination),
            transaction,
            explorerUrl: transaction && explorerUrl(row.chain, transaction),
            url: `${baseUrl}/checkout/${intent.id}/refund`,
            payment: {
              id: intent.id,
              amount: presentAmount({ amount: intent.amount, asset: intent.currency }).formatted,
              reference: intent.merchantReference,
            },
          },
        },
      };
    });
  };
}
