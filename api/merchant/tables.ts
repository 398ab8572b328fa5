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
  unique,
} from "drizzle-orm/pg-core";
import type { PayableRail } from "#facilitator";
import { hashBytes, hexBytes, instant } from "#store";
import type { Permission } from "../http/permissions.ts";
import type { finalActions } from "./schema.ts";

export const merchant = pgTable(
  "merchant",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    city: text("city").notNull(),
    countryCode: text("country_code").notNull(),
    /** Merchant category code, four digits. */
    categoryCode: text("category_code"),
    taxId: text("tax_id"),
    /** Postal, on as many lines as it has. */
    address: text("address"),
    /** Our fee, in basis points. */
    feeBps: integer("fee_bps").notNull().default(0),
    /** Origins of pages that may use those publishable keys which have no list of their own. */
    allowedOrigins: jsonb("allowed_origins").$type<readonly string[]>().notNull().default([]),
    /** The rails that it takes; empty means every one of the deployment, also those that come later. */
    rails: jsonb("rails").$type<readonly PayableRail[]>().notNull().default([]),
    /** How much less than the amount due still counts as paid. */
    underpaymentToleranceBps: integer("underpayment_tolerance_bps").notNull().default(0),
    /** Its margin on rates that a market makes. */
    spreadBps: integer("spread_bps").notNull().default(0),
    /** Where notices about the account go, and answers of payers; mail to nobody while it is null. */
    contactEmail: text("contact_email"),
    /** Whether a refund gives the refunded part of our fee back. */
    refundFees: boolean("refund_fees").notNull().default(true),
    /** What the numbers of invoices begin with. */
    invoicePrefix: text("invoice_prefix").notNull().default("INV"),
    /** What becomes of a subscription whose invoice is 30 days overdue. */
    finalAction: text("subscription_final_action")
      .$type<(typeof finalActions)[number]>()
      .notNull()
      .default("none"),
    /** IANA name: documents tell times in it, beside UTC. */
    timeZone: text("time_zone").notNull().default("UTC"),
    /** Of its pages and documents. */
    brandColour: text("brand_colour"),
    /** SHA-256 of its picture, which lies in `merchant_logo`. */
    logo: hashBytes("logo"),
    /** Since when the operator lets it sell nothing and take nothing out; null while it may. */
    suspendedAt: instant("suspended_at"),
    /** Why, in the operator's words to the merchant. */
    suspensionReason: text("suspension_reason"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    check("merchant_brand_colour", sql`${table.brandColour} ~ '^#[0-9a-f]{6}$'`),
    check("merchant_fee_bps", sql`${table.feeBps} BETWEEN 0 AND 10000`),
    check("merchant_country_code", sql`${table.countryCode} ~ '^[A-Z]{2}$'`),
    check("merchant_category_code", sql`${table.categoryCode} ~ '^[0-9]{4}$'`),
    check("merchant_underpayment_tolerance", sql`${table.underpaymentToleranceBps} BETWEEN 0 AND 500`),
    check("merchant_spread", sql`${table.spreadBps} BETWEEN 0 AND 300`),
    check("merchant_invoice_prefix", sql`${table.invoicePrefix} ~ '^[A-Z0-9]([A-Z0-9-]{0,10}[A-Z0-9])?$'`),
    check("merchant_suspension", sql`(${table.suspendedAt} IS NULL) = (${table.suspensionReason} IS NULL)`),
    check("merchant_final_action", sql`${table.finalAction} IN ('none', 'pause', 'cancel')`),
    index("merchant_allowed_origins").using("gin", table.allowedOrigins),
  ],
);

/** A merchant's picture, apart from its settings, which are read with every payment. */
export const merchantLogo = pgTable(
  "merchant_logo",
  {
    merchantId: text("merchant_id")
      .primaryKey()
      .references(() => merchant.id),
    digest: hashBytes("digest").notNull(),
    png: hexBytes("png").notNull(),
  },
  (table) => [index("merchant_logo_digest").on(table.digest)],
);

export const apiKey = pgTable(
  "api_key",
  {
    merchantId: text("merchant_id")
      .notNull()
      .references(() => merchant.id),
    id: text("id").$type<`key_${string}`>().notNull(),
    /** The 12 characters after the prefix: finds the row, may be logged. */
    keyId: text("key_id").notNull(),
    kind: text("kind").$type<"sk" | "pk">().notNull(),
    /** HMAC-SHA-256 of the whole key; the key itself is kept nowhere. */
    hmac: hashBytes("hmac").notNull(),
    last4: text("last4").notNull(),
    name: text("name").notNull(),
    permissions: jsonb("permissions").$type<readonly Permission[]>().notNull(),
    /** Of a publishable key; null follows the merchant's. */
    allowedOrigins: jsonb("allowed_origins").$type<readonly string[]>(),
    /** Addresses and CIDR ranges; null is everywhere. */
    allowedIps: jsonb("allowed_ips").$type<readonly string[]>(),
    /** `key_id` of the key that made it; null for the operator. */
    createdBy: text("created_by"),
    createdAt: instant("created_at").notNull(),
    lastUsedAt: instant("last_used_at"),
    expiresAt: instant("expires_at"),
    /** From then on it is refused; in the future while a rotated key is still good. */
    revokedAt: instant("revoked_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    unique("api_key_key_id").on(table.keyId),
    index("api_key_merchant").on(table.merchantId, table.createdAt),
    index("api_key_allowed_origins").using("gin", table.allowedOrigins),
    check("api_key_kind", sql`${table.kind} IN ('sk', 'pk')`),
  ],
);

/** Who did what: with a key, or signed in with one; it only grows. */
export const auditEntry = pgTable(
  "audit_entry",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`aud_${string}`>().notNull(),
    /** `key_id` of the key that did it; null for the operator. */
    actor: text("actor"),
    action: text("action").$type<AuditAction>().notNull(),
    /** Id of what it was done to. */
    subject: text("subject").notNull(),
    detail: jsonb("detail").$type<Readonly<Record<string, unknown>>>().notNull(),
    occurredAt: instant("occurred_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
  ],
);

export type AuditAction =
  | "key.created"
  | "key.rotated"
  | "key.revoked"
  | "merchant.updated"
  | "dashboard.signed_in"
  | "dashboard.signed_out"
  /** Method and route template of a request that changed something. */
  | `${string} /${string}`;
