import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { ReturnSource } from "#ledger";
import { addressBytes, atomic, hashBytes, hexBytes, instant, oneOf } from "#store";
import { type FailureReason, type Provider, providers } from "../payment-intent/state.ts";
import { paymentIntent } from "../payment-intent/tables.ts";
import { ExecutionPath, RateSource } from "../rate/schema.ts";
import {
  type ClearingState,
  clearingStates,
  type DepositStatus,
  depositStatuses,
  type OrderState,
  orderStates,
  type ReturnState,
  returnStates,
} from "./state.ts";

/** How the money of an intent stands. One for each intent, for life: a retry goes on with it. Amounts in atomic units of
 *  `asset`. */
export const clearing = pgTable(
  "clearing",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`clr_${string}`>().notNull(),
    intentId: text("intent_id").$type<`pi_${string}`>().notNull(),
    /** Written by `timeline.ts` only. */
    state: text("state").$type<ClearingState>().notNull(),
    provider: text("provider").$type<Provider>().notNull(),
    /** Our order (`ord_…`), the settlement of an agent's payment (`stl_…`), or the provider's own id. */
    providerReference: text("provider_reference"),
    /** The way that the money takes, as far as is known now. */
    executionPath: text("execution_path").$type<ExecutionPath>().notNull(),
    /** The way that was chosen; null where an agent came unasked. */
    chosenPath: text("chosen_path").$type<ExecutionPath>(),
    /** Slug, or the provider's name. */
    chain: text("chain").notNull(),
    /** Symbol. */
    asset: text("asset").notNull(),
    /** What the payer must send; once settled, what counted. */
    sourceAmount: atomic("source_amount").notNull(),
    /** Gross, in the rail's asset: expected until it is settled. */
    settlementAmount: atomic("settlement_amount").notNull(),
    fee: atomic("fee").notNull(),
    feeBps: integer("fee_bps").notNull(),
    /** How much less than due counts as paid. */
    toleranceBps: integer("tolerance_bps").notNull(),
    rateFrom: text("rate_from").notNull(),
    rateTo: text("rate_to").notNull(),
    scaledRate: atomic("scaled_rate").notNull(),
    rateSource: text("rate_source").$type<RateSource>().notNull(),
    rateLockedAt: instant("rate_locked_at").notNull(),
    /** The transaction that paid. */
    transactionHash: hashBytes("transaction_hash"),
    failureCode: text("failure_code").$type<FailureReason>(),
    failureReason: text("failure_reason"),
    failureAt: instant("failure_at"),
    /** The order that can be paid now; null where none was made. */
    orderSeq: integer("order_seq"),
    /** End of the window for the money. */
    expiresAt: instant("expires_at").notNull(),
    /** Money waits for the merchant's decision. */
    reviewRequired: boolean("review_required").notNull().default(false),
    /** Credits so far: a payment that a reorganisation took away is credited anew under the next number. */
    attempt: integer("attempt").notNull().default(0),
    /** Steps that failed since its funds were received. */
    failedSteps: integer("failed_steps").notNull().default(0),
    settledAt: instant("settled_at"),
    /** The last credit is posted for good. */
    isFinal: boolean("is_final").notNull().default(false),
    /** Length of the timeline. */
    sequence: integer("sequence").notNull(),
    /** When the loop looks at it next. */
    dueAt: instant("due_at"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    uniqueIndex("clearing_intent").on(table.merchantId, table.intentId),
    foreignKey({
      columns: [table.merchantId, table.intentId],
      foreignColumns: [paymentIntent.merchantId, paymentIntent.id],
    }),
    // One payment by authorization is one clearing's.
    uniqueIndex("clearing_settlement")
      .on(table.merchantId, table.providerReference)
      .where(sql`${table.executionPath} = 'x402'`),
    index("clearing_due").on(table.dueAt).where(sql`${table.dueAt} IS NOT NULL`),
    index("clearing_review").on(table.merchantId, table.intentId).where(sql`${table.reviewRequired}`),
    index("clearing_transaction")
      .on(table.merchantId, table.transactionHash)
      .where(sql`${table.transactionHash} IS NOT NULL`),
    check("clearing_state_known", oneOf(sql`${table.state}`, clearingStates)),
    check("clearing_provider_known", oneOf(sql`${table.provider}`, providers)),
    check("clearing_path_known", oneOf(sql`${table.executionPath}`, ExecutionPath.options)),
    check("clearing_rate_source_known", oneOf(sql`${table.rateSource}`, RateSource.options)),
    check(
      "clearing_amounts",
      sql`${table.sourceAmount} > 0 AND ${table.settlementAmount} > 0 AND ${table.fee} BETWEEN 0 AND ${table.settlementAmount}`,
    ),
    check(
      "clearing_failure",
      sql`(${table.failureCode} IS NULL) = (${table.failureAt} IS NULL) AND (${table.failureCode} IS NULL) = (${table.failureReason} IS NULL)`,
    ),
  ],
);

/** What a payer was asked to pay. One that was replaced is watched on: its money is never lost. */
export const clearingOrder = pgTable(
  "clearing_order",
  {
    merchantId: text("merchant_id").notNull(),
    clearingId: text("clearing_id").notNull(),
    seq: integer("seq").notNull(),
    id: text("id").$type<`ord_${string}`>().notNull(),
    path: text("path").$type<"deposit-match" | "on-chain-contract">().notNull(),
    chain: text("chain").notNull(),
    asset: text("asset").notNull(),
    /** Where it is paid: an address of its own, or the router. */
    address: addressBytes("address").notNull(),
    payTo: addressBytes("pay_to").notNull(),
    token: addressBytes("token").notNull(),
    amount: atomic("amount").notNull(),
    rateId: text("rate_id").$type<`rate_${string}`>().notNull(),
    validFrom: instant("valid_from").notNull(),
    expiresAt: instant("expires_at").notNull(),
    /** The operator's, over the order's terms and deadline. */
    signature: hexBytes("signature").notNull(),
    state: text("state").$type<OrderState>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.clearingId, table.seq] }),
    foreignKey({
      columns: [table.merchantId, table.clearingId],
      foreignColumns: [clearing.merchantId, clearing.id],
    }),
    uniqueIndex("clearing_order_live")
      .on(table.merchantId, table.clearingId)
      .where(sql`${table.state} IN ('active','expired')`),
    check("clearing_order_amount", sql`${table.amount} > 0`),
    check("clearing_order_state_known", oneOf(sql`${table.state}`, orderStates)),
  ],
);

/** A transfer that reached an order. The row stays with its transaction: mined again, it has another block. */
export const clearingDeposit = pgTable(
  "clearing_deposit",
  {
    merchantId: text("merchant_id").notNull(),
    clearingId: text("clearing_id").notNull(),
    id: text("id").$type<`dep_${string}`>().notNull(),
    orderId: text("order_id").notNull(),
    chain: text("chain").notNull(),
    asset: text("asset").notNull(),
    txHash: hashBytes("tx_hash").notNull(),
    ordinal: integer("ordinal").notNull(),
    logIndex: integer("log_index").notNull(),
    blockNumber: bigint("block_number", { mode: "number" }).notNull(),
    blockHash: hashBytes("block_hash").notNull(),
    /** Which booking of this log it is; part of the books' key. */
    booking: integer("booking").notNull(),
    sender: addressBytes("sender").notNull(),
    amount: atomic("amount").notNull(),
    confirmations: integer("confirmations").notNull(),
    isFinal: boolean("is_final").notNull(),
    status: text("status").$type<DepositStatus>().notNull(),
    /** It came after the window. */
    isLate: boolean("is_late").notNull(),
    /** The books have it, in these three parts. */
    isBooked: boolean("is_booked").notNull().default(false),
    toClearing: atomic("to_clearing").notNull().default(sql`0`),
    toOverpayment: atomic("to_overpayment").notNull().default(sql`0`),
    toUnmatched: atomic("to_unmatched").notNull().default(sql`0`),
    /** The merchant accepted what had been booked as unmatched: it lies in the clearing since. */
    isMatched: boolean("is_matched").notNull().default(false),
    /** The merchant has decided since it came. */
    isDecided: boolean("is_decided").notNull().default(false),
    firstSeenAt: instant("first_seen_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.clearingId, table.id] }),
    foreignKey({
      columns: [table.merchantId, table.clearingId],
      foreignColumns: [clearing.merchantId, clearing.id],
    }),
    uniqueIndex("clearing_deposit_log").on(table.merchantId, table.orderId, table.txHash, table.ordinal),
    index("clearing_deposit_transaction").on(table.merchantId, table.txHash),
    check("clearing_deposit_status_known", oneOf(sql`${table.status}`, depositStatuses)),
    check(
      "clearing_deposit_parts",
      sql`${table.toClearing} + ${table.toOverpayment} + ${table.toUnmatched} = CASE WHEN ${table.isBooked} THEN ${table.amount} ELSE 0 END`,
    ),
  ],
);

/** Money that goes back to a payer. */
export const clearingReturn = pgTable(
  "clearing_return",
  {
    merchantId: text("merchant_id").notNull(),
    clearingId: text("clearing_id").notNull(),
    id: text("id").$type<`ret_${string}`>().notNull(),
    depositId: text("deposit_id").$type<`dep_${string}`>().notNull(),
    source: text("source").$type<ReturnSource>().notNull(),
    chain: text("chain").notNull(),
    asset: text("asset").notNull(),
    amount: atomic("amount").notNull(),
    destination: addressBytes("destination").notNull(),
    /** `decided` until the money may leave: its deposit must be final first. */
    state: text("state").$type<ReturnState>().notNull(),
    note: text("note"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.clearingId, table.id] }),
    foreignKey({
      columns: [table.merchantId, table.clearingId],
      foreignColumns: [clearing.merchantId, clearing.id],
    }),
    index("clearing_return_id").on(table.merchantId, table.id),
    check("clearing_return_amount", sql`${table.amount} > 0`),
    check("clearing_return_state_known", oneOf(sql`${table.state}`, returnStates)),
  ],
);

/** One row for each step of a clearing. Rows are never changed or removed. */
export const timelineEntry = pgTable(
  "timeline_entry",
  {
    merchantId: text("merchant_id").notNull(),
    clearingId: text("clearing_id").notNull(),
    sequence: integer("sequence").notNull(),
    state: text("state").$type<ClearingState>().notNull(),
    /** Null on the first row; the state itself where something happened beside. */
    from: text("from").$type<ClearingState>(),
    cause: text("cause").notNull(),
    occurredAt: instant("occurred_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.clearingId, table.sequence] })],
);
