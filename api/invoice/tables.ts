import { sql } from "drizzle-orm";
import {
  bigint,
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
import { atomic, instant, oneOf } from "#store";
import { merchant } from "../merchant/tables.ts";
import type { ReminderTemplate } from "./reminders.ts";
import { type InvoiceState, invoiceStates } from "./state.ts";

export interface Buyer {
  readonly name: string;
  readonly email: string | null;
  readonly taxId: string | null;
  readonly address: string | null;
}

/** A line as it was priced. `unitPrice`: atomic units of the invoice's currency, as text. */
export interface StoredLine {
  readonly productId: string | null;
  readonly name: string;
  readonly unitPrice: string;
  readonly quantity: number;
}

/** The last number that a merchant was given, by what is numbered. The row's lock is what makes numbers follow one
 *  another. */
export const merchantCounter = pgTable(
  "merchant_counter",
  {
    merchantId: text("merchant_id")
      .notNull()
      .references(() => merchant.id),
    name: text("name").$type<"invoice">().notNull(),
    value: bigint("value", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.name] })],
);

/** A bill. Lines, currency and total never change once it is issued. */
export const invoice = pgTable(
  "invoice",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`inv_${string}`>().notNull(),
    state: text("state").$type<InvoiceState>().notNull(),
    /** Without gaps; null while a draft. */
    sequence: bigint("sequence", { mode: "number" }),
    number: text("number"),
    buyer: jsonb("buyer").$type<Buyer>().notNull(),
    currency: text("currency").notNull(),
    lines: jsonb("lines").$type<readonly StoredLine[]>().notNull(),
    /** Atomic units of `currency`, as the two below. */
    total: atomic("total").notNull(),
    /** Taken by completed payments. */
    collected: atomic("collected").notNull(),
    /** The same, less what was refunded. */
    paid: atomic("paid").notNull(),
    notes: text("notes"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    merchantName: text("merchant_name").notNull(),
    merchantCity: text("merchant_city").notNull(),
    merchantCountryCode: text("merchant_country_code").notNull(),
    merchantCategoryCode: text("merchant_category_code"),
    merchantTaxId: text("merchant_tax_id"),
    merchantAddress: text("merchant_address"),
    /** Our fee on an agent's payment, in basis points. */
    feeBps: integer("fee_bps").notNull(),
    /** Of a draft: from the day it is issued. */
    daysUntilDue: integer("days_until_due"),
    dueAt: instant("due_at"),
    sendEmail: boolean("send_email").notNull(),
    /** Reminders are held back while its subscription is paused. */
    remindersHeld: boolean("reminders_held").notNull(),
    /** When to remind next; null when there is nothing left to remind of. */
    remindAt: instant("remind_at"),
    /** When it was told that it is overdue; null again when it was given more time. */
    overdueAt: instant("overdue_at"),
    listed: boolean("listed").notNull(),
    /** Anybody may have found its address then, and kept it. */
    wasListed: boolean("was_listed").notNull().default(false),
    subscriptionId: text("subscription_id").$type<`sub_${string}`>(),
    cycleIndex: integer("cycle_index"),
    periodStart: instant("period_start"),
    periodEnd: instant("period_end"),
    version: integer("version").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
    issuedAt: instant("issued_at"),
    paidAt: instant("paid_at"),
    voidedAt: instant("voided_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("invoice_sequence")
      .on(table.merchantId, table.sequence)
      .where(sql`${table.sequence} IS NOT NULL`),
    uniqueIndex("invoice_cycle")
      .on(table.merchantId, table.subscriptionId, table.cycleIndex)
      .where(sql`${table.subscriptionId} IS NOT NULL`),
    index("invoice_state").on(table.merchantId, table.state, table.id),
    index("invoice_number").on(table.merchantId, table.number).where(sql`${table.number} IS NOT NULL`),
    index("invoice_buyer").on(table.merchantId, sql`lower(buyer->>'email')`, table.id),
    index("invoice_remind").on(table.remindAt).where(sql`${table.remindAt} IS NOT NULL`),
    index("invoice_falling_due")
      .on(table.dueAt)
      .where(sql`${table.state} = 'open' AND ${table.overdueAt} IS NULL`),
    index("invoice_long_overdue")
      .on(table.dueAt)
      .where(sql`${table.state} = 'open' AND ${table.subscriptionId} IS NOT NULL`),
    index("invoice_subscription")
      .on(table.merchantId, table.subscriptionId, table.id)
      .where(sql`${table.subscriptionId} IS NOT NULL`),
    check("invoice_state_known", oneOf(sql`${table.state}`, invoiceStates)),
    check(
      "invoice_total",
      sql`${table.total} > 0 AND ${table.paid} >= 0 AND ${table.paid} <= ${table.collected}`,
    ),
    check(
      "invoice_issued",
      sql`(${table.state} = 'draft') = (${table.sequence} IS NULL) AND (${table.sequence} IS NULL) = (${table.number} IS NULL) AND (${table.sequence} IS NULL) = (${table.issuedAt} IS NULL) AND (${table.issuedAt} IS NULL OR ${table.dueAt} IS NOT NULL)`,
    ),
    check("invoice_paid", sql`(${table.state} = 'paid') = (${table.paidAt} IS NOT NULL)`),
    check("invoice_voided", sql`(${table.state} = 'void') = (${table.voidedAt} IS NOT NULL)`),
    check(
      "invoice_of_cycle",
      sql`(${table.subscriptionId} IS NULL) = (${table.cycleIndex} IS NULL) AND (${table.subscriptionId} IS NULL) = (${table.periodStart} IS NULL) AND (${table.subscriptionId} IS NULL) = (${table.periodEnd} IS NULL)`,
    ),
  ],
);

/** Reminders that were called for, so that none is called for twice. */
export const invoiceReminder = pgTable(
  "invoice_reminder",
  {
    merchantId: text("merchant_id").notNull(),
    invoiceId: text("invoice_id").$type<`inv_${string}`>().notNull(),
    template: text("template").$type<ReminderTemplate>().notNull(),
    /** False for one that a later one overtook: after a downtime a buyer is reminded once. */
    isTold: boolean("is_told").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.invoiceId, table.template] }),
    foreignKey({
      columns: [table.merchantId, table.invoiceId],
      foreignColumns: [invoice.merchantId, invoice.id],
    }),
  ],
);

/** Facts that may change what was paid of an invoice, until they were looked at. */
export const invoiceNews = pgTable(
  "invoice_news",
  {
    factId: text("fact_id").primaryKey(),
    merchantId: text("merchant_id").notNull(),
    invoiceId: text("invoice_id").$type<`inv_${string}`>().notNull(),
    heardAt: instant("heard_at").notNull(),
  },
  (table) => [index("invoice_news_invoice").on(table.merchantId, table.invoiceId)],
);
