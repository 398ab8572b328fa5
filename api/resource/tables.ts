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
  smallint,
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
    /** Chosen rails; empty means every one at parity with the price. In both cases within those of the merchant. */
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

/** When a listed endpoint is probed next, and what the last probe found. */
export const resourceProbe = pgTable(
  "resource_probe",
  {
    merchantId: text("merchant_id").notNull(),
    resourceId: text("resource_id").notNull(),
    /** Null while it is not listed. */
    nextAt: instant("next_at"),
    /** Bad probes in a row. */
    failures: smallint("failures").notNull().default(0),
    at: instant("at"),
    /** Null when no answer came. */
    status: smallint("status"),
    ok: boolean("ok").notNull().default(false),
    findings: jsonb("findings")
      .$type<readonly { readonly code: string; readonly detail: string }[]>()
      .notNull(),
    /** What the endpoint said of itself when it was first probed after its registration. */
    firstSeen: jsonb("first_seen").$type<{ readonly url: string; readonly schema: string | null }>(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.resourceId] }),
    foreignKey({
      columns: [table.merchantId, table.resourceId],
      foreignColumns: [resource.merchantId, resource.id],
    }),
    index("resource_probe_due").on(table.nextAt).where(sql`${table.nextAt} IS NOT NULL`),
  ],
);

/** Whether a host names a merchant as its own. */
export const verifiedHost = pgTable(
  "verified_host",
  {
    merchantId: text("merchant_id").notNull(),
    host: text("host").notNull(),
    verified: boolean("verified").notNull(),
    checkedAt: instant("checked_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.host] })],
);

/** How far ahead of its allowance the house is with requests to a domain, whoever asked for them. */
export const probedDomain = pgTable("probed_domain", {
  domain: text("domain").primaryKey(),
  spentUntil: instant("spent_until").notNull(),
});
