import { foreignKey, jsonb, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { instant } from "#store";
import { merchant } from "../merchant/tables.ts";

/** Somebody who buys from a merchant. */
export const customer = pgTable(
  "customer",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`cus_${string}`>().notNull(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    /** The email in small letters: what a customer is found by. */
    emailKey: text("email_key").notNull(),
    taxId: text("tax_id"),
    address: text("address"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("customer_email").on(table.merchantId, table.emailKey),
  ],
);
