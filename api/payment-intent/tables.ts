import { type SQL, sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, instant } from "#store";
import { merchant } from "../merchant/tables.ts";
import type { ExecutionPath } from "../rate/schema.ts";
import {
  type ClearingState,
  clearingStates,
  type FailureReason,
  type IntentSource,
  type IntentStatus,
  intentSources,
  intentStatuses,
  type Provider,
  statusOf,
  unclearedStatuses,
} from "./state.ts";

const list = (values: readonly string[]): SQL => sql.raw(values.map((value) => `'${value}'`).join(","));

/** The status that follows from the state of the clearing; without one, one of its own. */
function derived(state: SQL, status: SQL): SQL {
  const arms = intentStatuses.flatMap((each) => {
    const states = clearingStates.filter((from) => statusOf[from] === each);
    return states.length > 0
      ? [sql`WHEN ${state} IN (${list(states)}) THEN ${status} = ${sql.raw(`'${each}'`)}`]
      : [];
  });
  return sql`CASE WHEN ${state} IS NULL THEN ${status} IN (${list(unclearedStatuses)}) ${sql.join(arms, sql.raw(" "))} ELSE false END`;
}

/** What was asked for when it was made; the choice of a rail never goes beyond it. */
export interface AskedRail {
  readonly executionPath: ExecutionPath;
  readonly settlementAsset?: string | undefined;
  readonly asset?: string | undefined;
  /** Slug. */
  readonly chain?: string | undefined;
}

/** A request to be paid. Amount, currency, merchant, reference and metadata never change. */
export const paymentIntent = pgTable(
  "payment_intent",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`pi_${string}`>().notNull(),
    status: text("status").$type<IntentStatus>().notNull(),
    /** Atomic units of `currency`. */
    amount: atomic("amount").notNull(),
    currency: text("currency").notNull(),
    provider: text("provider").$type<Provider>().notNull(),
    source: text("source").$type<IntentSource>().notNull(),
    asked: jsonb("asked").$type<AskedRail>().notNull(),
    /** Of the rail taken; before, what was asked for. */
    settlementAsset: text("settlement_asset"),
    paymentAsset: text("payment_asset"),
    /** Slug. */
    paymentChain: text("payment_chain"),
    payerAddress: addressBytes("payer_address"),
    /** The caller named the payer; otherwise it was learned from the money. */
    payerDeclared: boolean("payer_declared").notNull(),
    executionPath: text("execution_path").$type<ExecutionPath>(),
    merchantName: text("merchant_name").notNull(),
    merchantCity: text("merchant_city").notNull(),
    merchantCountryCode: text("merchant_country_code").notNull(),
    merchantCategoryCode: text("merchant_category_code"),
    merchantReference: text("merchant_reference"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    customer: jsonb("customer").$type<{
      readonly email?: string | undefined;
      readonly name?: string | undefined;
    }>(),
    returnUrl: text("return_url"),
    /** Our fee on it, in basis points: the merchant's of the day it was made. */
    feeBps: integer("fee_bps").notNull(),
    /** Set only when it was asked for. */
    expiresInSeconds: integer("expires_in_seconds"),
    /** What agents are asked for at its URL, at the decimals of a price; null where none was ever offered there. */
    offerAmount: atomic("offer_amount"),
    offerAsset: text("offer_asset"),
    offerRails: jsonb("offer_rails").$type<readonly { readonly chain: string; readonly asset: string }[]>(),
    offerExpiresAt: instant("offer_expires_at"),
    /** The rate of that offer, where it is not one to one. */
    offerRateId: text("offer_rate_id").$type<`rate_${string}`>(),
    /** What it pays, where other intents may pay the same: of all of them one counts. Id of a once-payable. */
    heldAs: text("held_as"),
    clearingId: text("clearing_id").$type<`clr_${string}`>(),
    clearingState: text("clearing_state").$type<ClearingState>(),
    failureReason: text("failure_reason").$type<FailureReason>(),
    /** The request that made it: what stays when the record of its key is pruned. */
    idempotencyScope: text("idempotency_scope"),
    idempotencyKey: text("idempotency_key"),
    fingerprint: hashBytes("fingerprint"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
    expiresAt: instant("expires_at").notNull(),
    confirmedAt: instant("confirmed_at"),
    completedAt: instant("completed_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("payment_intent_write")
      .on(table.merchantId, table.idempotencyScope, table.idempotencyKey)
      .where(sql`${table.idempotencyKey} IS NOT NULL`),
    // Whoever holds an id may see its page, and does not know whose it is.
    index("payment_intent_id").on(table.id),
    // Lists are newest first; each filter ends in the id, so that a page is read off the index.
    index("payment_intent_status").on(table.merchantId, table.status, table.id),
    index("payment_intent_source").on(table.merchantId, table.source, table.id),
    index("payment_intent_rail").on(table.merchantId, table.paymentChain, table.paymentAsset, table.id),
    index("payment_intent_unsettled")
      .on(table.merchantId, table.clearingState, table.id)
      .where(sql`${table.clearingState} <> 'settled'`),
    index("payment_intent_reference")
      .on(table.merchantId, table.merchantReference, table.id)
      .where(sql`${table.merchantReference} IS NOT NULL`),
    index("payment_intent_subscription")
      .on(table.merchantId, sql`(metadata->>'subscriptionId')`, table.id)
      .where(sql`metadata ? 'subscriptionId'`),
    index("payment_intent_invoice")
      .on(table.merchantId, sql`(metadata->>'invoiceId')`, table.id)
      .where(sql`metadata ? 'invoiceId'`),
    // What a link was paid with, and what may still pay it.
    index("payment_intent_link")
      .on(table.merchantId, sql`(metadata->>'paymentLinkId')`, table.status)
      .where(sql`source = 'payment-link'`),
    index("payment_intent_link_page")
      .on(table.merchantId, sql`(metadata->>'paymentLinkId')`, table.id)
      .where(sql`source = 'payment-link'`),
    index("payment_intent_customer")
      .on(table.merchantId, sql`lower(customer->>'email')`, table.id)
      .where(sql`customer ? 'email'`),
    index("payment_intent_expiring").on(table.expiresAt).where(sql`${table.status} = 'created'`),
    check("payment_intent_amount", sql`${table.amount} > 0`),
    check("payment_intent_fee_bps", sql`${table.feeBps} BETWEEN 0 AND 10000`),
    check("payment_intent_source_known", sql`${table.source} IN (${list(intentSources)})`),
    check("payment_intent_status_derived", derived(sql`${table.clearingState}`, sql`${table.status}`)),
    check(
      "payment_intent_cleared",
      sql`(${table.clearingId} IS NULL) = (${table.clearingState} IS NULL) AND (${table.clearingId} IS NULL) = (${table.executionPath} IS NULL)`,
    ),
    check(
      "payment_intent_failed",
      sql`CASE ${table.status} WHEN 'failed' THEN ${table.failureReason} IS NOT NULL WHEN 'expired' THEN true ELSE ${table.failureReason} IS NULL END`,
    ),
    check(
      "payment_intent_offer",
      sql`(${table.offerAmount} IS NULL) = (${table.offerAsset} IS NULL) AND (${table.offerAmount} IS NULL) = (${table.offerRails} IS NULL)`,
    ),
  ],
);
