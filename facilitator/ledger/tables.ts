import { type SQL, sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  type PgColumn,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
} from "drizzle-orm/pg-core";
import { atomic, hexBytes, instant } from "#store";
import type { AccountType } from "./account.ts";
import type { Phase } from "./transfer.ts";

/** As `resolutionId` has it; of a neighbour it is the entry itself. */
const neighbourOf = (entryId: PgColumn): SQL => sql`set_byte(${entryId}, 15, get_byte(${entryId}, 15) # 1)`;
/** As `entryId` has it, of the event whose key a resolution's is without `:post` or `:void`. */
const pendingOf = (eventKey: PgColumn): SQL =>
  sql`substr(sha256(convert_to(E'farebox/entry/v1\\n' || left(${eventKey}, -5), 'UTF8')), 1, 16)`;

export const ledgerAccount = pgTable(
  "ledger_account",
  {
    /** First 16 bytes of sha256 over path and asset: known without reading. */
    id: hexBytes("id").primaryKey(),
    path: text("path").notNull(),
    type: text("type").$type<AccountType>().notNull(),
    asset: text("asset").notNull(),
    merchantId: text("merchant_id"),
    bounded: boolean("bounded").notNull(),
  },
  (table) => [
    unique("ledger_account_path_asset").on(table.path, table.asset),
    index("ledger_account_merchant").on(table.merchantId),
    check("ledger_account_type", sql`${table.type} IN ('asset','liability','income','expense','equity')`),
  ],
);

/** The books: append-only by grant and by trigger. One row is one transfer; an entry is the rows sharing `entry_id`. That both
 *  accounts are there and of the row's asset is looked at once for a statement: docs/decisions/0030. */
export const ledgerTransfer = pgTable(
  "ledger_transfer",
  {
    id: hexBytes("id").notNull(),
    entryId: hexBytes("entry_id").notNull(),
    leg: text("leg").notNull(),
    eventKey: text("event_key").notNull(),
    code: text("code").notNull(),
    debitAccount: hexBytes("debit_account").notNull(),
    creditAccount: hexBytes("credit_account").notNull(),
    amount: atomic("amount").notNull(),
    asset: text("asset").notNull(),
    phase: text("phase").$type<Phase>().notNull(),
    ref: hexBytes("ref"),
    subject: text("subject"),
    blockNumber: bigint("block_number", { mode: "number" }),
    sequence: smallint("sequence").notNull(),
    postedAt: instant("posted_at").notNull().default(sql`now()`),
  },
  (table) => [
    // What the id is the hash of: an event is found by it, and its rows lie side by side.
    primaryKey({ columns: [table.entryId, table.leg] }),
    index("ledger_transfer_subject").on(table.subject),
    // An account's newest entries: what is new of one lies together.
    index("ledger_transfer_debit").on(table.debitAccount, table.postedAt),
    index("ledger_transfer_credit").on(table.creditAccount, table.postedAt),
    index("ledger_transfer_block").on(table.asset, table.blockNumber),
    // Rows lie in the order in which they were posted: a few pages tell where those of a time are.
    index("ledger_transfer_posted").using("brin", table.postedAt).with({ autosummarize: true }),
    check("ledger_transfer_amount", sql`${table.amount} > 0`),
    check("ledger_transfer_two_accounts", sql`${table.debitAccount} <> ${table.creditAccount}`),
    check("ledger_transfer_phase", sql`${table.phase} IN ('single','pending','post','void')`),
    // A pending is resolved at most once: post and void are the same neighbour of its entry, where one of them has room.
    check(
      "ledger_transfer_resolution",
      sql`${table.phase} NOT IN ('post','void') OR ${neighbourOf(table.entryId)} = ${pendingOf(table.eventKey)}`,
    ),
    check("ledger_transfer_ref_phase", sql`(${table.ref} IS NOT NULL) = (${table.phase} IN ('post','void'))`),
  ],
);

/** The fold of the transfers, changed in the transaction that inserts them. */
export const ledgerBalance = pgTable(
  "ledger_balance",
  {
    accountId: hexBytes("account_id")
      .primaryKey()
      .references(() => ledgerAccount.id),
    bounded: boolean("bounded").notNull(),
    debitsPosted: atomic("debits_posted").notNull().default(sql`0`),
    creditsPosted: atomic("credits_posted").notNull().default(sql`0`),
    debitsPending: atomic("debits_pending").notNull().default(sql`0`),
    creditsPending: atomic("credits_pending").notNull().default(sql`0`),
    version: bigint("version", { mode: "number" }).notNull().default(0),
  },
  (table) => [
    check(
      "ledger_balance_not_negative",
      sql`${table.debitsPosted} >= 0 AND ${table.creditsPosted} >= 0 AND ${table.debitsPending} >= 0 AND ${table.creditsPending} >= 0`,
    ),
    // Bounded accounts are liabilities that may not be overdrawn; pending inflow cannot be spent.
    check(
      "ledger_balance_bounded",
      sql`NOT ${table.bounded} OR ${table.debitsPosted} + ${table.debitsPending} <= ${table.creditsPosted}`,
    ),
  ],
);

/** What the transfers posted before the checkpoint add up to, per account: those need not be read again. */
export const ledgerFold = pgTable("ledger_fold", {
  accountId: hexBytes("account_id")
    .primaryKey()
    .references(() => ledgerAccount.id),
  debitsPosted: atomic("debits_posted").notNull(),
  creditsPosted: atomic("credits_posted").notNull(),
  // Perhaps below zero: what resolves a pending may carry an earlier time than the pending itself.
  debitsPending: atomic("debits_pending").notNull(),
  creditsPending: atomic("credits_pending").notNull(),
});

/** One row. */
export const ledgerCheckpoint = pgTable(
  "ledger_checkpoint",
  {
    only: boolean("only").primaryKey().default(true),
    foldedTo: instant("folded_to").notNull(),
  },
  (table) => [check("ledger_checkpoint_only", sql`${table.only}`)],
);
