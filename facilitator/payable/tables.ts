import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, instant } from "#store";
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
    /** What holds it that is no authorization: the id of a payment whose money a payer sent by itself. */
    heldFor: text("held_for"),
    /** The once-payable that is held when this one is paid; null is its own. */
    heldAs: text("held_as"),
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
    check("payable_price_positive", sql`${table.priceAmount} > 0`),
    check("payable_fee_bps", sql`${table.feeBps} BETWEEN 0 AND 10000`),
  ],
);

/** Why a listing is shown with a warning, until its merchant registers it anew. */
const listingWarnings = ["pay-to-not-ours", "target-changed", "schema-changed"] as const;
export type ListingWarning = (typeof listingWarnings)[number];

/** Facts about a payable that its merchant cannot write. */
export const payableTrust = pgTable("payable_trust", {
  payableId: text("payable_id").primaryKey(),
  settledCount: bigint("settled_count", { mode: "number" }).notNull().default(0),
  /** Rows of `payable_payer`. */
  distinctPayers: integer("distinct_payers").notNull().default(0),
  hostVerified: boolean("host_verified").notNull().default(false),
  probeAt: instant("probe_at"),
  /** Status of the probed endpoint's answer; null when none came. */
  probeStatus: smallint("probe_status"),
  probeOk: boolean("probe_ok").notNull().default(false),
  warning: text("warning").$type<ListingWarning>(),
});

/** Who paid for what within the last 90 days. */
export const payablePayer = pgTable(
  "payable_payer",
  {
    payableId: text("payable_id").notNull(),
    payer: addressBytes("payer").notNull(),
    lastPaidAt: instant("last_paid_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.payableId, table.payer] }),
    index("payable_payer_last_paid").on(table.lastPaidAt),
    index("payable_payer_payer").on(table.payer),
  ],
);

/** Wallets that merchants have named as their own: what comes from there says nothing of what they sell. */
export const ownWallet = pgTable(
  "own_wallet",
  {
    merchantId: text("merchant_id").notNull(),
    wallet: addressBytes("wallet").notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.wallet] })],
);

/** Facts that have been counted, so that one that is told again is not counted again. */
export const countedFact = pgTable(
  "counted_fact",
  {
    id: text("id").primaryKey(),
    countedAt: instant("counted_at").notNull(),
  },
  (table) => [index("counted_fact_at").on(table.countedAt)],
);

const tsvector = customType<{ data: string }>({ dataType: () => "tsvector" });

/** What the discovery indexes are searched and ranked by: a narrow row for each payable that is listed and open. */
export const listing = pgTable(
  "listing",
  {
    id: text("id").primaryKey(),
    kind: text("kind").$type<PayableKind>().notNull(),
    once: boolean("once").notNull(),
    merchantId: text("merchant_id").notNull(),
    /** Registrable domain: no more than three of one stand in front. */
    domain: text("domain").notNull(),
    /** What its names look like at a glance; for impostors of a verified host. */
    looks: text("looks").array().notNull(),
    words: tsvector("words").notNull(),
    priceAmount: atomic("price_amount").notNull(),
    priceAsset: text("price_asset").notNull(),
    /** `chain asset` of each allowed rail; none means every one at parity. */
    rails: text("rails").array().notNull(),
    /** Their keys, and `mcp` for what is called as a tool. */
    extensions: text("extensions").array().notNull(),
    /** The facts of `payable_trust` as one number, the higher the better; see `standing.ts`. */
    standing: smallint("standing").notNull(),
    hostVerified: boolean("host_verified").notNull(),
    expiresAt: instant("expires_at"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    index("listing_words").using("gin", table.words),
    index("listing_rank").on(table.standing.desc(), table.createdAt, table.id),
    index("listing_verified_looks").using("gin", table.looks).where(sql`${table.hostVerified}`),
  ],
);
