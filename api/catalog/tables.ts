import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { atomic, instant } from "#store";
import { merchant } from "../merchant/tables.ts";

/** Something that a merchant sells. */
export const product = pgTable(
  "product",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`prod_${string}`>().notNull(),
    sku: text("sku").notNull(),
    name: text("name").notNull(),
    description: text("description"),
    active: boolean("active").notNull(),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
    /** Grows with every change that can be seen. */
    version: integer("version").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("product_sku").on(table.merchantId, table.sku),
  ],
);

/** What one of it costs, in atomic units of each currency that it is sold in. */
export const productPrice = pgTable(
  "product_price",
  {
    merchantId: text("merchant_id").notNull(),
    productId: text("product_id").$type<`prod_${string}`>().notNull(),
    asset: text("asset").notNull(),
    amount: atomic("amount").notNull(),
    /** Its place in the list that the merchant sent. */
    place: integer("place").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.productId, table.asset] }),
    foreignKey({
      columns: [table.merchantId, table.productId],
      foreignColumns: [product.merchantId, product.id],
    }),
    check("product_price_amount", sql`${table.amount} >= 0`),
  ],
);
