import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, height, instant, oneOf } from "#store";
import { type ClaimKind, claimKinds } from "../claim/state.ts";

/** Who follows a chain, and how far. */
export const observer = pgTable("observer", {
  chainId: height("chain_id").primaryKey(),
  startBlock: height("start_block").notNull(),
  cursorNumber: height("cursor_number").notNull(),
  cursorHash: hashBytes("cursor_hash").notNull(),
  finalizedNumber: height("finalized_number").notNull(),
  leaseHolder: text("lease_holder"),
  fence: height("fence").notNull().default(0),
  leaseUntil: instant("lease_until"),
  /** When the chain was last followed to its head; a network that cannot be followed is not offered. Null from a restore from
   *  a backup until that is so again. */
  followedAt: instant("followed_at"),
  /** Set when a finalized block was reorganised: crediting stops until a person decides. */
  haltedReason: text("halted_reason"),
});

/** A token whose transfers are recorded in the blocks after `sinceBlock`; never deleted, also when it leaves the list. */
export const followedToken = pgTable(
  "followed_token",
  {
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    sinceBlock: height("since_block").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.token] })],
);

export const chainBlock = pgTable(
  "chain_block",
  {
    chainId: height("chain_id").notNull(),
    number: height("number").notNull(),
    hash: hashBytes("hash").notNull(),
    parent: hashBytes("parent").notNull(),
    timestamp: height("timestamp").notNull(),
    canonical: boolean("canonical").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.hash] }),
    uniqueIndex("chain_block_canonical").on(table.chainId, table.number).where(sql`${table.canonical}`),
  ],
);

/** What a transfer was booked as. `deposit` lies on an order's own address and is swept; `routed` is in the treasury. */
type ClaimedKind = ClaimKind | "unmatched" | "deposit" | "routed" | "booked";

/** Every Transfer in or out of our addresses, as observed. One log pays one thing. */
export const chainTransfer = pgTable(
  "chain_transfer",
  {
    chainId: height("chain_id").notNull(),
    blockNumber: height("block_number").notNull(),
    blockHash: hashBytes("block_hash").notNull(),
    txHash: hashBytes("tx_hash").notNull(),
    logIndex: integer("log_index").notNull(),
    token: addressBytes("token").notNull(),
    sender: addressBytes("sender").notNull(),
    recipient: addressBytes("recipient").notNull(),
    amount: atomic("amount").notNull(),
    blockTime: instant("block_time").notNull(),
    canonical: boolean("canonical").notNull(),
    /** Claim key of the authorization whose use stands right before this transfer in its transaction. */
    authorizationKey: hashBytes("authorization_key"),
    /** Rank among the transfers of its transaction to its recipient: names it where its place in a block cannot. */
    ordinal: integer("ordinal").notNull().default(0),
    /** What a payment through our router says it is for. */
    paymentRef: hashBytes("payment_ref"),
    /** The order it reached, by its address or its reference. Who asked for it books it, never we. */
    orderId: text("order_id"),
    /** What the claim of its authorization, or whoever else booked it, made of it; null while nobody did. */
    claimedKind: text("claimed_kind").$type<ClaimedKind>(),
    /** Claim key of the sweep that takes it into the treasury. */
    sweptBy: hashBytes("swept_by"),
    /** Its unmatched booking was posted for good. */
    bookedFinal: boolean("booked_final").notNull().default(false),
    /** How often it was booked, as unmatched or for an order: a block may leave the chain and come back. */
    bookings: integer("bookings").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.blockHash, table.logIndex] }),
    uniqueIndex("chain_transfer_log")
      .on(table.chainId, table.txHash, table.logIndex)
      .where(sql`${table.canonical}`),
    // One log pays one claim: of an authorization's logs, one is claimed; those that are not do not meet, being null.
    uniqueIndex("chain_transfer_authorization")
      .on(
        table.authorizationKey,
        sql`(CASE WHEN ${oneOf(sql`${table.claimedKind}`, claimKinds)} THEN true END)`,
      )
      .where(sql`${table.canonical}`),
    // Small at all times: what nobody has looked at yet, and what is booked and not final.
    index("chain_transfer_unbooked")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} IS NULL`),
    index("chain_transfer_unmatched")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} = 'unmatched' AND NOT ${table.bookedFinal}`),
    // Authorizations that were used before anybody claimed them: few, and they may stay for ever.
    index("chain_transfer_unclaimed")
      .on(table.authorizationKey)
      .where(
        sql`${table.canonical} AND ${table.claimedKind} = 'unmatched' AND ${table.authorizationKey} IS NOT NULL`,
      ),
    index("chain_transfer_order").on(table.orderId).where(sql`${table.orderId} IS NOT NULL`),
    index("chain_transfer_unswept")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} = 'deposit' AND ${table.sweptBy} IS NULL`),
    index("chain_transfer_swept").on(table.sweptBy).where(sql`${table.sweptBy} IS NOT NULL`),
  ],
);
