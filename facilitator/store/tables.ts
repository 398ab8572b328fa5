import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

export const outbox = pgTable(
  "outbox",
  {
    id: text("id").$type<`evt_${string}`>().primaryKey(),
    /** The order in which facts are told; ids say nothing about it within a millisecond. */
    sequence: bigint("sequence", { mode: "number" }).generatedAlwaysAsIdentity(),
    type: text("type").notNull(),
    subject: text("subject").notNull(),
    merchantId: text("merchant_id").notNull(),
    payload: jsonb("payload").$type<Record<string, unknown>>().notNull(),
    occurredAt: instant("occurred_at").notNull().defaultNow(),
    deliveredAt: instant("delivered_at"),
    /** How often a hearer failed on it. */
    attempts: integer("attempts").notNull().default(0),
    lastError: text("last_error"),
    /** Not before then, after a failure. */
    retryAt: instant("retry_at"),
    /** Set aside after too many failures, until a person has it told again. */
    deadAt: instant("dead_at"),
  },
  (table) => [
    index("outbox_undelivered")
      .on(table.sequence)
      .where(sql`${table.deliveredAt} IS NULL AND ${table.deadAt} IS NULL`),
    // Both small at all times: what failed and waits, what is set aside.
    index("outbox_retried")
      .on(table.subject, table.sequence)
      .where(sql`${table.deliveredAt} IS NULL AND ${table.deadAt} IS NULL AND ${table.retryAt} IS NOT NULL`),
    index("outbox_dead").on(table.sequence).where(sql`${table.deadAt} IS NOT NULL`),
  ],
);
