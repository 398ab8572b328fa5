import { and, eq, exists, lte, sql } from "drizzle-orm";
import { checksum } from "#kernel/bytes";
import { fixed, type Tx } from "#store";
import { clearing, clearingDeposit, clearingReturn, timelineEntry } from "../../clearing/tables.ts";
import { presentAmount } from "../../http/money.ts";
import { invoice } from "../../invoice/tables.ts";
import { merchant } from "../../merchant/tables.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import type { ReturnCause } from "../message.ts";
import { ofItsInvoice, payerEmail } from "./payer.ts";
import { aboutSubjects, isOneOf, type Source } from "./source.ts";

/** A notice to the payer that money which could not be used is back. */
export const sentReturns: Source = async (tx, facts, { baseUrl, explorerUrl }) => {
  const transactions = new Map(facts.map(({ subject, payload }) => [subject, payload.transaction]));
  const rows = await find(tx, aboutSubjects(facts));
  return rows.map(({ row, intent, email, contactEmail, ...found }) => {
    const named = transactions.get(row.id);
    const transaction = typeof named === "string" ? named : null;
    return {
      merchantId: row.merchantId,
      cause: row.id,
      to: email,
      template: "payment-returned",
      data: {
        seller: { name: intent.merchantName, contactEmail },
        returned: {
          id: row.id,
          amount: presentAmount(row).formatted,
          cause: causeOf({ source: row.source, ...found }),
          chain: row.chain,
          destination: checksum(row.destination),
          transaction,
          explorerUrl: transaction && explorerUrl(row.chain, transaction),
          url: `${baseUrl}/checkout/${intent.id}`,
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

function find(tx: Tx, named: ReturnType<typeof aboutSubjects>) {
  return tx
    .select({
      row: clearingReturn,
      intent: paymentIntent,
      email: payerEmail,
      contactEmail: merchant.contactEmail,
      isLate: clearingDeposit.isLate,
      isSettled: sql<boolean>`${clearing.state} = 'settled'`,
      isCancelled: sql<boolean>`${cancelledBefore(tx)}`,
      isShort: sql<boolean>`${clearing.sourceAmount} > (${arrived})`,
    })
    .from(clearingReturn)
    .innerJoin(
      clearing,
      and(eq(clearing.merchantId, clearingReturn.merchantId), eq(clearing.id, clearingReturn.clearingId)),
    )
    .innerJoin(
      clearingDeposit,
      and(
        eq(clearingDeposit.merchantId, clearingReturn.merchantId),
        eq(clearingDeposit.clearingId, clearingReturn.clearingId),
        eq(clearingDeposit.id, clearingReturn.depositId),
      ),
    )
    .innerJoin(
      paymentIntent,
      and(eq(paymentIntent.merchantId, clearing.merchantId), eq(paymentIntent.id, clearing.intentId)),
    )
    .leftJoin(invoice, ofItsInvoice)
    .innerJoin(merchant, eq(merchant.id, clearingReturn.merchantId))
    .where(
      and(
        isOneOf(clearingReturn.merchantId, clearingReturn.id, named),
        eq(clearingReturn.state, "sent"),
        sql`${payerEmail} IS NOT NULL`,
      ),
    );
}

function cancelledBefore(tx: Tx) {
  const { merchantId, clearingId, state, occurredAt } = timelineEntry;
  return exists(
    tx
      .select({ state })
      .from(timelineEntry)
      .where(
        and(
          eq(merchantId, clearing.merchantId),
          eq(clearingId, clearing.id),
          fixed(eq(state, "cancelled")),
          lte(occurredAt, clearingDeposit.firstSeenAt),
        ),
      ),
  );
}

/** All that was ever taken for the clearing, whatever of it went back. */
const arrived = sql`SELECT coalesce(sum(came.to_clearing), 0) FROM clearing_deposit came
  WHERE came.merchant_id = ${clearing.merchantId} AND came.clearing_id = ${clearing.id}`;

interface Found {
  readonly source: (typeof clearingReturn.$inferSelect)["source"];
  readonly isLate: boolean;
  readonly isSettled: boolean;
  readonly isCancelled: boolean;
  readonly isShort: boolean;
}

/** The plainest of what was wrong with it. */
function causeOf({ source, isLate, isSettled, isCancelled, isShort }: Found): ReturnCause {
  if (source === "overpayment") return "overpaid";
  if (isCancelled) return "cancelled";
  if (isLate) return "late";
  if (source === "unmatched" || isSettled) return "unasked";
  return isShort ? "underpaid" : "declined";
}
