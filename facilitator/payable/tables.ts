import { sql } from "drizzle-orm";
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { atomic, hashBytes, instant } from "#store";
import type { PayableKind, PayableRail } from "./payable.ts";

export const payable = pgTable(
  "payable",
  {
    id: text("id").primaryKey(),
    kind: text("kind").$type<PayableKind>().notNull(),
    merchantId: text("merchant_id").notNull(),
    merchantName: text("merchant_name").notNull(),
    url: text("url").notNull(),
    title: text("title"),
    description: text("description").notNull(),
    mimeType: text("mime_type").notNull(),
    priceAmount: atomic("price_amount").notNull(),
    priceAsset: text("price_asset").notNull(),
    rails: jsonb("rails").$type<readonly PayableRail[]>().notNull(),
    maxTimeoutSeconds: integer("max_timeout_seconds").notNull(),
    paymentFlow: text("payment_flow").$type<"authorization" | "upfront">().notNull(),
    serviceName: text("service_name"),
    tags: jsonb("tags").$type<readonly string[]>().notNull(),
    iconUrl: text("icon_url"),
    extensions: jsonb("extensions").$type<Readonly<Record<string, unknown>>>().notNull(),
    feeBps: integer("fee_bps").notNull(),
    once: boolean("once").notNull(),
    /** Claim key of the authorization that holds a once-payable; see settlement.md S3. */
    heldBy: hashBytes("held_by"),
    listed: boolean("listed").notNull(),
    closedAt: instant("closed_at"),
    closedAs: text("closed_as"),
    expiresAt: instant("expires_at"),
    number: text("number"),
    dueAt: instant("due_at"),
    pageUrl: text("page_url"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    // A lookup by URL must find one merchant; an archived registration frees its URL.
    uniqueIndex("payable_open_url").on(table.url).where(sql`${table.closedAt} IS NULL`),
    index("payable_listed")
      .on(table.createdAt, table.id)
      .where(sql`${table.listed} AND ${table.closedAt} IS NULL`),
    check("payable_price_positive", sql`${table.priceAmount} > 0`),
    check("payable_fee_bps", sql`${table.feeBps} BETWEEN 0 AND 10000`),
  ],
);
