import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

export const outbox = pgTable(
  "outbox",
  {
    id: text("id").$type<`evt_${string}`>().primaryKey(),
    type: text("type").notNull(),
    subject: text("subject").notNull(),
    merchantId: text("merchant_id").notNull(),
    payload: jsonb("payload").$type<Record<string, unknown>>().notNull(),
    occurredAt: instant("occurred_at").notNull().defaultNow(),
    deliveredAt: instant("delivered_at"),
  },
  (table) => [index("outbox_undelivered").on(table.id).where(sql`${table.deliveredAt} IS NULL`)],
);
