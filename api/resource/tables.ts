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

/** An endpoint that a merchant sells to agents. */
export const resource = pgTable(
  "resource",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`x402r_${string}`>().notNull(),
    url: text("url").notNull(),
    description: text("description").notNull(),
    mimeType: text("mime_type").notNull(),
    priceAmount: atomic("price_amount").notNull(),
    priceAsset: text("price_asset").notNull(),
    /** Chosen rails; empty means every one at parity with the price. */
    rails: jsonb("rails").$type<readonly { readonly chain: string; readonly asset: string }[]>().notNull(),
    maxTimeoutSeconds: integer("max_timeout_seconds").notNull(),
    paymentFlow: text("payment_flow").$type<"authorization" | "upfront">().notNull(),
    serviceName: text("service_name"),
    tags: jsonb("tags").$type<readonly string[]>().notNull(),
    iconUrl: text("icon_url"),
    extensions: jsonb("extensions").$type<Readonly<Record<string, unknown>>>().notNull(),
    listed: boolean("listed").notNull(),
    archivedAt: instant("archived_at"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    // The URL is the natural key of a registration; across merchants `payable_open_url` decides.
    uniqueIndex("resource_live_url").on(table.merchantId, table.url).where(sql`${table.archivedAt} IS NULL`),
    check("resource_price_positive", sql`${table.priceAmount} > 0`),
    check("resource_timeout", sql`${table.maxTimeoutSeconds} BETWEEN 30 AND 600`),
  ],
);
