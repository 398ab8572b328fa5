import { sql } from "drizzle-orm";
import { check, index, integer, jsonb, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { hashBytes, instant } from "#store";
import type { Permission } from "../http/permissions.ts";

export const merchant = pgTable(
  "merchant",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    city: text("city").notNull(),
    countryCode: text("country_code").notNull(),
    /** Our fee, in basis points. */
    feeBps: integer("fee_bps").notNull().default(0),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    check("merchant_fee_bps", sql`${table.feeBps} BETWEEN 0 AND 10000`),
    check("merchant_country_code", sql`${table.countryCode} ~ '^[A-Z]{2}$'`),
  ],
);

export const apiKey = pgTable(
  "api_key",
  {
    merchantId: text("merchant_id")
      .notNull()
      .references(() => merchant.id),
    id: text("id").notNull(),
    /** The 12 characters after the prefix: finds the row, may be logged. */
    keyId: text("key_id").notNull(),
    kind: text("kind").$type<"sk" | "pk">().notNull(),
    /** HMAC-SHA-256 of the whole key; the key itself is kept nowhere. */
    hmac: hashBytes("hmac").notNull(),
    last4: text("last4").notNull(),
    name: text("name").notNull(),
    permissions: jsonb("permissions").$type<readonly Permission[]>().notNull(),
    createdAt: instant("created_at").notNull(),
    lastUsedAt: instant("last_used_at"),
    expiresAt: instant("expires_at"),
    revokedAt: instant("revoked_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    unique("api_key_key_id").on(table.keyId),
    index("api_key_merchant").on(table.merchantId, table.createdAt),
    check("api_key_kind", sql`${table.kind} IN ('sk', 'pk')`),
  ],
);
