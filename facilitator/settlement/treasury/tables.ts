import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { ReturnSource } from "#ledger";
import { addressBytes, atomic, hashBytes, height, instant, oneOf } from "#store";
import { type OutgoingKind, outgoingKinds } from "../claim/state.ts";
import { claim } from "../claim/tables.ts";

/** Where money of ours lies on a chain. */
export type MoneyPlace = "treasury" | "deposits";

/** To which address of a chain the deployment's money goes, told by the first start on it. */
export const chainTreasury = pgTable("chain_treasury", {
  chainId: height("chain_id").primaryKey(),
  address: addressBytes("address").notNull(),
});

/** What an operator said of a transfer out that nothing of ours explains. */
export const outflowBooking = pgTable(
  "outflow_booking",
  {
    chainId: height("chain_id").notNull(),
    blockHash: hashBytes("block_hash").notNull(),
    logIndex: integer("log_index").notNull(),
    /** Whose money it was; ours where it is null. */
    merchantId: text("merchant_id"),
    reason: text("reason").notNull(),
    bookedAt: instant("booked_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.blockHash, table.logIndex] })],
);

/** Money that we owe outward: decided and reserved in the books, sent by the lanes. */
export const outgoing = pgTable(
  "outgoing",
  {
    /** Of the payout, refund or return it carries out. */
    id: text("id").primaryKey(),
    kind: text("kind").$type<OutgoingKind>().notNull(),
    merchantId: text("merchant_id").notNull(),
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    recipient: addressBytes("recipient").notNull(),
    amount: atomic("amount").notNull(),
    /** Of a refund: the part that we give back of our fee. */
    feeShare: atomic("fee_share").notNull().default(sql`0`),
    /** Of a return: where the money lay, and the clearing it is about. */
    source: text("source").$type<ReturnSource>(),
    subject: text("subject"),
    /** Set when the treasury has signed; from then on it cannot be cancelled. */
    claimKey: hashBytes("claim_key").references(() => claim.claimKey),
    signedAt: instant("signed_at"),
    /** Fixed when it is queued, by what its chain's operator wants to approve. */
    needsApproval: boolean("needs_approval").notNull().default(false),
    approvedAt: instant("approved_at"),
    cancelledAt: instant("cancelled_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    // What left lately, for a limit on it.
    index("outgoing_signed")
      .on(table.chainId, table.token, table.signedAt)
      .where(sql`${table.signedAt} IS NOT NULL`),
    index("outgoing_waiting")
      .on(table.chainId, table.createdAt)
      .where(sql`${table.claimKey} IS NULL AND ${table.cancelledAt} IS NULL`),
    check(
      "outgoing_amount",
      sql`${table.amount} > 0 AND ${table.feeShare} >= 0 AND ${table.feeShare} <= ${table.amount}`,
    ),
    check("outgoing_kind", oneOf(sql`${table.kind}`, outgoingKinds)),
    check("outgoing_refund", sql`${table.feeShare} = 0 OR ${table.kind} = 'refund'`),
    check(
      "outgoing_return",
      sql`(${table.kind} = 'return') = (${table.source} IS NOT NULL AND ${table.subject} IS NOT NULL)`,
    ),
  ],
);

/** Reports of books against chain, one row per run, token and place. */
export const reconciliation = pgTable(
  "reconciliation",
  {
    id: bigint("id", { mode: "number" }).generatedAlwaysAsIdentity().primaryKey(),
    chainId: height("chain_id").notNull(),
    asset: text("asset").notNull(),
    place: text("place").$type<MoneyPlace>().notNull().default("treasury"),
    blockNumber: height("block_number").notNull(),
    status: text("status").$type<"equal" | "different" | "not-checked">().notNull(),
    ledger: atomic("ledger").notNull(),
    /** Arrived for an order and not booked yet by who asked for it: part of what must be there. */
    waiting: atomic("waiting").notNull().default(sql`0`),
    onChain: atomic("on_chain"),
    unexplained: integer("unexplained").notNull(),
    at: instant("at").notNull().defaultNow(),
  },
  (table) => [index("reconciliation_latest").on(table.chainId, table.asset, table.place, table.id)],
);
