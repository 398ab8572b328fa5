import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { hexBytes, instant } from "#store";
import { merchant } from "../merchant/tables.ts";

/** Callbacks that a provider sent and signed, each once, before they are acknowledged. */
export const providerEvent = pgTable(
  "provider_event",
  {
    provider: text("provider").notNull(),
    /** The provider's own, the same at every delivery. */
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    /** The provider's id of what it is about. */
    reference: text("reference").notNull(),
    /** The bytes that were signed. */
    body: hexBytes("body").notNull(),
    receivedAt: instant("received_at").notNull(),
    /** When the provider was read again because of it. */
    handledAt: instant("handled_at"),
    attempts: integer("attempts").notNull().default(0),
    /** Why the last attempt to handle it failed. */
    failure: text("failure"),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.eventId] }),
    index("provider_event_unhandled").on(table.receivedAt).where(sql`${table.handledAt} IS NULL`),
  ],
);

/** What a provider is asked to do: to take a payment (`clr_…`), or to send one back (`re_…`). Amounts and states are
 *  those of the clearing and the refund. */
export const providerOrder = pgTable(
  "provider_order",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").notNull(),
    provider: text("provider").notNull(),
    kind: text("kind").$type<"clearing" | "refund">().notNull(),
    /** The provider's own id of it; null until the provider has answered. */
    reference: text("reference"),
    /** When the provider is next asked, by the machine's clock; null when nothing more is to come. */
    dueAt: instant("due_at"),
    /** Until when somebody looks; nobody else does before. Null while nobody looks. */
    leasedUntil: instant("leased_until"),
    /** Failures in a row. */
    attempts: integer("attempts").notNull().default(0),
    /** Why the last attempt failed. */
    failure: text("failure"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("provider_order_reference").on(table.provider, table.reference),
    index("provider_order_due").on(table.dueAt).where(sql`${table.dueAt} IS NOT NULL`),
    check("provider_order_kind", sql`${table.kind} IN ('clearing', 'refund')`),
  ],
);

/** How far a sandbox's merchant clock is ahead of the machine's: one row, or none while it was never moved. */
export const sandboxClock = pgTable(
  "sandbox_clock",
  {
    id: integer("id").primaryKey(),
    offsetSeconds: bigint("offset_seconds", { mode: "number" }).notNull(),
  },
  (table) => [
    check("sandbox_clock_one_row", sql`${table.id} = 1`),
    // Thirty years: beyond, dates leave what people and programs expect.
    check("sandbox_clock_offset", sql`${table.offsetSeconds} BETWEEN 1 AND 946080000`),
  ],
);
