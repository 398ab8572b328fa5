import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  pgSequence,
  pgTable,
  text,
  unique,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, height, instant } from "#store";
import { claim } from "../claim/tables.ts";

/** How the money of an order comes. */
export type DepositPath = "deposit-match" | "on-chain-contract";

/** Counts the addresses of the deposit account that were given away: one order each, never a second one. */
export const depositAddressIndex = pgSequence("deposit_address_index", { startWith: 0, minValue: 0 });

/** What payers were asked to pay to an address of its own, or through our router. */
export const depositOrder = pgTable(
  "deposit_order",
  {
    orderId: text("order_id").$type<`ord_${string}`>().primaryKey(),
    merchantId: text("merchant_id").notNull(),
    /** Told with each fact: who asked for it. */
    subject: text("subject").notNull(),
    path: text("path").$type<DepositPath>().notNull(),
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    amount: atomic("amount").notNull(),
    /** Its own deposit address, or the router. */
    address: addressBytes("address").notNull(),
    /** Of the deposit account's key; null for the router. */
    addressIndex: integer("address_index"),
    paymentRef: hashBytes("payment_ref").notNull(),
    /** Of its newest signature. */
    deadline: instant("deadline").notNull(),
    /** What comes to its address later is not seen. */
    watchedUntil: instant("watched_until").notNull(),
    /** The transaction that wrote it: who looks again asks for what the last look could not see. */
    writtenIn: height("written_in").notNull().default(sql`(pg_current_xact_id()::text::bigint)`),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("deposit_order_index").on(table.addressIndex),
    index("deposit_order_address").on(table.address),
    index("deposit_order_subject").on(table.subject),
    index("deposit_order_reference").on(table.chainId, table.paymentRef),
    index("deposit_order_written")
      .on(table.chainId, table.writtenIn)
      .where(sql`${table.addressIndex} IS NOT NULL`),
    check("deposit_order_amount", sql`${table.amount} > 0`),
    check("deposit_order_path", sql`${table.path} IN ('deposit-match','on-chain-contract')`),
    check(
      "deposit_order_own_address",
      sql`(${table.path} = 'deposit-match') = (${table.addressIndex} IS NOT NULL)`,
    ),
  ],
);

/** Our own authorizations that take deposits into the treasury. */
export const sweep = pgTable(
  "sweep",
  {
    claimKey: hashBytes("claim_key")
      .primaryKey()
      .references(() => claim.claimKey),
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    address: addressBytes("address").notNull(),
    /** Grows with each sweep of an address, and is part of the nonce. */
    seq: integer("seq").notNull(),
    /** Until its claim has ended. */
    open: boolean("open").notNull().default(true),
  },
  (table) => [
    unique("sweep_seq").on(table.chainId, table.token, table.address, table.seq),
    uniqueIndex("sweep_open").on(table.chainId, table.token, table.address).where(sql`${table.open}`),
  ],
);
