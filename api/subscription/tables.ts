import { sql } from "drizzle-orm";
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
} from "drizzle-orm/pg-core";
import { atomic, instant, oneOf } from "#store";
import { merchant } from "../merchant/tables.ts";
import { type Interval, intervals } from "./schedule.ts";
import { type SubscriptionState, subscriptionStates } from "./state.ts";

/** A bill that repeats. */
export const subscription = pgTable(
  "subscription",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`sub_${string}`>().notNull(),
    state: text("state").$type<SubscriptionState>().notNull(),
    customerId: text("customer_id").$type<`cus_${string}`>().notNull(),
    /** As they were when a cycle was billed last. */
    customerName: text("customer_name").notNull(),
    customerEmail: text("customer_email").notNull(),
    description: text("description").notNull(),
    /** Of each cycle, atomic units of `currency`. */
    amount: atomic("amount").notNull(),
    currency: text("currency").notNull(),
    interval: text("interval").$type<Interval>().notNull(),
    intervalCount: integer("interval_count").notNull(),
    anchorAt: instant("anchor_at").notNull(),
    daysUntilDue: integer("days_until_due").notNull(),
    maxCycles: integer("max_cycles"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    sendEmail: boolean("send_email").notNull(),
    /** Cycles that were issued; those that fell into a pause are not. */
    billedCycles: integer("billed_cycles").notNull(),
    /** The cycle that comes next. */
    nextIndex: integer("next_index").notNull(),
    nextBillingAt: instant("next_billing_at"),
    /** When there is something to do about it: a cycle begins, or it ends. */
    dueAt: instant("due_at"),
    /** Names the cycles that are issued late together, so that they are told in one mail. */
    batch: text("batch"),
    pausedAt: instant("paused_at"),
    pauseReason: text("pause_reason"),
    cancelAt: instant("cancel_at"),
    cancelledAt: instant("cancelled_at"),
    /** Its open invoices are to be voided once it is cancelled. */
    voidsOpen: boolean("voids_open").notNull(),
    version: integer("version").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    index("subscription_due").on(table.dueAt).where(sql`${table.dueAt} IS NOT NULL`),
    index("subscription_voiding").on(table.cancelledAt).where(sql`${table.voidsOpen}`),
    index("subscription_state").on(table.merchantId, table.state, table.id),
    index("subscription_customer").on(table.merchantId, table.customerId, table.id),
    index("subscription_email").on(table.merchantId, sql`lower(customer_email)`, table.id),
    check("subscription_state_known", oneOf(sql`${table.state}`, subscriptionStates)),
    check("subscription_interval", oneOf(sql`${table.interval}`, intervals)),
    check("subscription_amount", sql`${table.amount} > 0 AND ${table.intervalCount} > 0`),
    check("subscription_paused", sql`(${table.state} = 'paused') = (${table.pausedAt} IS NOT NULL)`),
    check("subscription_cancelled", sql`(${table.state} = 'cancelled') = (${table.cancelledAt} IS NOT NULL)`),
    check(
      "subscription_billing",
      sql`${table.nextBillingAt} IS NULL OR ${table.state} IN ('active','past-due')`,
    ),
  ],
);

/** What became of each cycle: a row for each, so that none is issued twice. */
export const subscriptionCycle = pgTable(
  "subscription_cycle",
  {
    merchantId: text("merchant_id").notNull(),
    subscriptionId: text("subscription_id").$type<`sub_${string}`>().notNull(),
    cycleIndex: integer("cycle_index").notNull(),
    /** `skipped`: it fell into a pause. */
    state: text("state").$type<"issued" | "skipped">().notNull(),
    invoiceId: text("invoice_id").$type<`inv_${string}`>(),
    startsAt: instant("starts_at").notNull(),
    endsAt: instant("ends_at").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.subscriptionId, table.cycleIndex] }),
    foreignKey({
      columns: [table.merchantId, table.subscriptionId],
      foreignColumns: [subscription.merchantId, subscription.id],
    }),
    check(
      "subscription_cycle_issued",
      sql`(${table.state} = 'issued') = (${table.invoiceId} IS NOT NULL) AND ${table.state} IN ('issued','skipped')`,
    ),
  ],
);
