import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, instant, oneOf } from "#store";
import { clearing } from "../clearing/tables.ts";
import type { Provider } from "../payment-intent/state.ts";
import { RefundReason } from "./schema.ts";
import { type RefundState, refundStates } from "./state.ts";

/** Money of a payment that goes back to its payer. */
export const refund = pgTable(
  "refund",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`re_${string}`>().notNull(),
    clearingId: text("clearing_id").$type<`clr_${string}`>().notNull(),
    intentId: text("intent_id").$type<`pi_${string}`>().notNull(),
    state: text("state").$type<RefundState>().notNull(),
    /** Who moved the payment, and moves this. */
    provider: text("provider").$type<Provider>().notNull(),
    /** Slug of the payment's chain, or its provider's name. */
    chain: text("chain").notNull(),
    /** Symbol; amounts are atomic units of it. */
    asset: text("asset").notNull(),
    amount: atomic("amount").notNull(),
    /** Our fee on it, part of the amount. */
    fee: atomic("fee").notNull(),
    /** Whether that part comes from us. */
    returnsFee: boolean("returns_fee").notNull(),
    reason: text("reason").$type<RefundReason>().notNull(),
    destination: addressBytes("destination"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    /** Of the transaction that pays it. */
    providerReference: text("provider_reference"),
    failureReason: text("failure_reason"),
    /** When its money was locked and queued; until then it is a promise that payouts leave alone. */
    reservedAt: instant("reserved_at"),
    /** When to look at it next; null when it is over, waits for an address, or is a provider's. */
    dueAt: instant("due_at"),
    /** The request that made it: what stays when the record of its key is pruned. */
    idempotencyScope: text("idempotency_scope").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    fingerprint: hashBytes("fingerprint").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({
      columns: [table.merchantId, table.clearingId],
      foreignColumns: [clearing.merchantId, clearing.id],
    }),
    uniqueIndex("refund_write").on(table.merchantId, table.idempotencyScope, table.idempotencyKey),
    index("refund_clearing").on(table.merchantId, table.clearingId, table.id),
    index("refund_promised")
      .on(table.merchantId, table.chain, table.asset)
      .where(sql`${table.reservedAt} IS NULL AND ${table.state} IN ('pending','requires-destination')`),
    index("refund_due").on(table.dueAt).where(sql`${table.dueAt} IS NOT NULL`),
    check(
      "refund_amount",
      sql`${table.amount} > 0 AND ${table.fee} >= 0 AND ${table.fee} <= ${table.amount}`,
    ),
    check("refund_state", oneOf(sql`${table.state}`, refundStates)),
    check("refund_reason", oneOf(sql`${table.reason}`, RefundReason.options)),
    check(
      "refund_destination",
      sql`${table.destination} IS NOT NULL OR ${table.provider} <> 'evm' OR ${table.state} IN ('requires-destination','cancelled')`,
    ),
    check(
      "refund_reserved",
      sql`${table.reservedAt} IS NOT NULL OR ${table.state} IN ('requires-destination','pending','cancelled')`,
    ),
    check(
      "refund_over",
      sql`${table.dueAt} IS NULL OR ${table.state} IN ('requires-destination','pending','processing')`,
    ),
    check("refund_failed", sql`(${table.state} = 'failed') = (${table.failureReason} IS NOT NULL)`),
  ],
);

/** What payers signed to say whom to pay: each nonce counts once. */
export const refundClaim = pgTable(
  "refund_claim",
  {
    merchantId: text("merchant_id").notNull(),
    /** As our page gave it. */
    nonce: text("nonce").notNull(),
    clearingId: text("clearing_id").$type<`clr_${string}`>().notNull(),
    /** Who paid, and signed. */
    account: addressBytes("account").notNull(),
    destination: addressBytes("destination").notNull(),
    message: text("message").notNull(),
    signature: text("signature").notNull(),
    claimedAt: instant("claimed_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.nonce] }),
    foreignKey({
      columns: [table.merchantId, table.clearingId],
      foreignColumns: [clearing.merchantId, clearing.id],
    }),
  ],
);
