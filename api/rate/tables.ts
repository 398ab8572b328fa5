import { sql } from "drizzle-orm";
import { check, foreignKey, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { atomic, instant } from "#store";
import { merchant } from "../merchant/tables.ts";
import { type RateInput, RateSource } from "./schema.ts";

const sources = sql.raw(
  RateSource.exclude(["none"])
    .options.map((source) => `'${source}'`)
    .join(", "),
);

/** A rate as it was locked for a payment, with the prices it was made of. Rows are never changed or removed. */
export const rateSnapshot = pgTable(
  "rate_snapshot",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`rate_${string}`>().notNull(),
    fromAsset: text("from_asset").notNull(),
    toAsset: text("to_asset").notNull(),
    /** Units of `to` for one of `from`, × 10^18, spread included. */
    scaledRate: atomic("scaled_rate").notNull(),
    source: text("source").$type<Exclude<RateSource, "none">>().notNull(),
    spreadBps: integer("spread_bps").notNull(),
    inputs: jsonb("inputs").$type<readonly RateInput[]>().notNull(),
    lockedAt: instant("locked_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    check("rate_snapshot_positive", sql`${table.scaledRate} > 0`),
    check("rate_snapshot_spread", sql`${table.spreadBps} BETWEEN 0 AND 300`),
    check("rate_snapshot_source", sql`${table.source} IN (${sources})`),
  ],
);
