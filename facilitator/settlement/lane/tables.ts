import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, height, hexBytes, instant } from "#store";

/** A lane: one gas key on one chain, held by one process at a time. */
export const signer = pgTable(
  "signer",
  {
    chainId: height("chain_id").notNull(),
    address: addressBytes("address").notNull(),
    nextNonce: integer("next_nonce").notNull(),
    leaseHolder: text("lease_holder"),
    fence: height("fence").notNull().default(0),
    leaseUntil: instant("lease_until"),
    state: text("state").$type<"active" | "quarantined">().notNull().default("active"),
    /** Its coins when they were last read, wei. */
    gasWei: atomic("gas_wei"),
    /** Since when they are too few: the lane takes no new batches. */
    lowSince: instant("low_since"),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);

/** One nonce of one signer: used for one thing, ever. Open until that nonce is consumed in a final block. */
export const slot = pgTable(
  "slot",
  {
    id: text("id").primaryKey(),
    chainId: height("chain_id").notNull(),
    signer: addressBytes("signer").notNull(),
    nonce: integer("nonce").notNull(),
    open: boolean("open").notNull().default(true),
    sentAtBlock: height("sent_at_block").notNull(),
    minedBlock: height("mined_block"),
    minedHash: hashBytes("mined_hash"),
    minedTx: hashBytes("mined_tx"),
    /** Whether what the transaction did not pay was looked into. */
    sorted: boolean("sorted").notNull().default(false),
    gasWei: atomic("gas_wei"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("slot_nonce").on(table.chainId, table.signer, table.nonce),
    index("slot_open").on(table.chainId, table.signer, table.nonce).where(sql`${table.open}`),
  ],
);

/** Claims of a slot. That both are there is looked at once for a statement: docs/decisions/0030. */
export const slotItem = pgTable(
  "slot_item",
  {
    slotId: text("slot_id").notNull(),
    claimKey: hashBytes("claim_key").notNull(),
    idx: integer("idx").notNull(),
    open: boolean("open").notNull().default(true),
  },
  (table) => [
    primaryKey({ columns: [table.slotId, table.idx] }),
    uniqueIndex("slot_item_open").on(table.claimKey).where(sql`${table.open}`),
  ],
);

/** Signed bytes, committed before they are first sent. All raws of a nonce are kept: any of them may land. */
export const attempt = pgTable(
  "attempt",
  {
    slotId: text("slot_id")
      .notNull()
      .references(() => slot.id),
    seq: integer("seq").notNull(),
    txHash: hashBytes("tx_hash").notNull().unique(),
    raw: hexBytes("raw").notNull(),
    maxFee: atomic("max_fee").notNull(),
    tip: atomic("tip").notNull(),
    gasLimit: atomic("gas_limit").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.slotId, table.seq] })],
);
