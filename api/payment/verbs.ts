import { and, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import { parseHash } from "#kernel/bytes";
import type { PaymentPath, PaymentPosition } from "../clearing/schema.ts";
import { clearing, clearingDeposit } from "../clearing/tables.ts";
import {
  findPayment,
  type PaymentDesk,
  paymentsOf,
  positionOf,
  presentClearing,
} from "../clearing/verbs/payment.ts";
import type { Buyer } from "../customer/verbs.ts";
import type { Call } from "../http/context.ts";
import type { Page } from "../http/page.ts";
import { statusOf } from "../payment-intent/state.ts";
import { paymentIntent } from "../payment-intent/tables.ts";
import { intentConditions, presentIntent } from "../payment-intent/verbs/read.ts";
import type { PaymentFilter, PaymentSummary } from "./schema.ts";

/** A payment whole, by the id of its intent or of its clearing. Fault: `not_found`. Source: interface §4. */
export async function readPayment(
  desk: PaymentDesk,
  { ctx, input }: Call<PaymentPath>,
): Promise<PaymentPosition> {
  ctx.demand("payments:read");
  const { pool } = ctx.db;
  const payment = await findPayment(pool, ctx.merchantId, input.id);
  const payments = await paymentsOf(desk, payment.intent, payment.clearing);
  return positionOf(desk, pool, { ...payment, payments });
}

/** A payment with its clearing. `id` is the intent's. */
export type FoundPayment = Omit<PaymentSummary, "amountRefunded"> & { readonly id: string };

/** The merchant's payments, newest first; one more than the page holds when there are more. A buyer who is null has none. */
export async function listPayments(
  desk: PaymentDesk,
  { ctx, input }: Call<Page & PaymentFilter & { readonly buyer?: Buyer | null }>,
): Promise<readonly FoundPayment[]> {
  ctx.demand("payments:read");
  if (input.buyer === null) return [];
  const { merchantId } = ctx;
  const rows = await ctx.db.pool
    .select({ intent: paymentIntent, clearing })
    .from(paymentIntent)
    .leftJoin(
      clearing,
      and(eq(clearing.merchantId, paymentIntent.merchantId), eq(clearing.id, paymentIntent.clearingId)),
    )
    .where(
      and(
        eq(paymentIntent.merchantId, merchantId),
        input.after === null ? undefined : lt(paymentIntent.id, input.after as `pi_${string}`),
        ...intentConditions(input),
        ...conditionsOf(desk, merchantId, input),
        input.buyer && madeBy(merchantId, input.buyer),
      ),
    )
    .orderBy(desc(paymentIntent.id))
    .limit(input.limit + 1);
  return rows.map(({ intent, clearing: row }) => ({
    id: intent.id,
    paymentIntent: presentIntent(intent, desk),
    clearing: row && presentClearing(row),
  }));
}

/** Each is answered by an index that ends in the id, or by one that finds a handful of rows. */
function conditionsOf(
  { facilitator }: PaymentDesk,
  merchantId: string,
  { state, reviewRequired, chain, asset, txHash, subscriptionId, invoiceId, ...of }: PaymentFilter,
): readonly SQL[] {
  const isMeant = (name: string) => name.toLowerCase() === chain?.toLowerCase();
  const served = facilitator.chains().find((each) => isMeant(each.network) || isMeant(each.chain));
  const slug = served?.chain ?? chain;
  return [
    // The status stands in an index with all of them, the state only with those that are not settled.
    state && and(eq(paymentIntent.status, statusOf[state]), eq(paymentIntent.clearingState, state)),
    reviewRequired === undefined ? undefined : underReview(merchantId, reviewRequired === "true"),
    slug === undefined ? undefined : eq(paymentIntent.paymentChain, slug),
    asset === undefined ? undefined : eq(paymentIntent.paymentAsset, asset.toUpperCase()),
    txHash === undefined ? undefined : paidIn(merchantId, txHash),
    subscriptionId === undefined ? undefined : ofSubscription(subscriptionId),
    invoiceId === undefined ? undefined : ofInvoice(invoiceId),
    of.paymentLinkId === undefined ? undefined : paidBy(of.paymentLinkId),
    of.customerEmail === undefined ? undefined : boughtBy(of.customerEmail),
  ].filter((condition) => condition !== undefined);
}

/** By their source: a merchant may note such keys on intents of its own. */
function ofSubscription(id: string): SQL {
  return sql`(payment_intent.source = 'subscription'
    AND payment_intent.metadata ? 'subscriptionId' AND (payment_intent.metadata->>'subscriptionId') = ${id})`;
}

function ofInvoice(id: string): SQL {
  return sql`(payment_intent.source IN ('invoice', 'subscription')
    AND payment_intent.metadata ? 'invoiceId' AND (payment_intent.metadata->>'invoiceId') = ${id})`;
}

function paidBy(linkId: string): SQL {
  return sql`(payment_intent.source = 'payment-link' AND (payment_intent.metadata->>'paymentLinkId') = ${linkId})`;
}

function boughtBy(email: string): SQL {
  return sql`(payment_intent.customer ? 'email' AND lower(payment_intent.customer->>'email') = lower(${email}))`;
}

/** Each kind is read off an index of its own. */
function madeBy(merchantId: string, { email, subscriptionIds }: Buyer): SQL {
  const theirs = sql`payment_intent.merchant_id = ${merchantId} AND`;
  const subscribed = sql`payment_intent.source = 'subscription' AND payment_intent.metadata ? 'subscriptionId'
    AND (payment_intent.metadata->>'subscriptionId') = ANY(${sql.param([...subscriptionIds])}::text[])`;
  const other = sql`payment_intent.source <> 'subscription' AND ${boughtBy(email)}`;
  return sql`${paymentIntent.id} IN (SELECT id FROM payment_intent WHERE ${theirs} ${subscribed}
    UNION ALL SELECT id FROM payment_intent WHERE ${theirs} ${other})`;
}

function underReview(merchantId: string, isRequired: boolean): SQL {
  const ids = sql`(SELECT intent_id FROM ${clearing} WHERE ${clearing.merchantId} = ${merchantId} AND ${clearing.reviewRequired})`;
  return isRequired ? sql`${paymentIntent.id} IN ${ids}` : sql`${paymentIntent.id} NOT IN ${ids}`;
}

function paidIn(merchantId: string, txHash: string): SQL {
  const hash = parseHash(txHash);
  const paid = sql`SELECT intent_id FROM ${clearing} WHERE ${clearing.merchantId} = ${merchantId} AND ${clearing.transactionHash} = ${sql.param(hash, clearing.transactionHash)}`;
  const reached = sql`SELECT clearing.intent_id FROM ${clearingDeposit} JOIN ${clearing} ON clearing.merchant_id = clearing_deposit.merchant_id AND clearing.id = clearing_deposit.clearing_id
    WHERE ${clearingDeposit.merchantId} = ${merchantId} AND ${clearingDeposit.txHash} = ${sql.param(hash, clearingDeposit.txHash)}`;
  return sql`${paymentIntent.id} IN (${paid} UNION ${reached})`;
}
