import { sql } from "drizzle-orm";
import { check, foreignKey, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { addressBytes, atomic, instant } from "#store";
import { merchant } from "../merchant/tables.ts";

/** Where a merchant may be paid. Removed ones stay, so that old payouts keep their meaning. */
export const payoutAddress = pgTable(
  "payout_address",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").notNull(),
    chain: text("chain").notNull(),
    address: addressBytes("address").notNull(),
    label: text("label").notNull(),
    /** A stolen key must not be able to empty the account within the hour. */
    usableFrom: instant("usable_from").notNull(),
    createdAt: instant("created_at").notNull(),
    removedAt: instant("removed_at"),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    uniqueIndex("payout_address_live")
      .on(table.merchantId, table.chain, table.address)
      .where(sql`${table.removedAt} IS NULL`),
  ],
);

/** What a merchant asked for; where it stands is the facilitator's to say. */
export const payout = pgTable(
  "payout",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").notNull(),
    chain: text("chain").notNull(),
    asset: text("asset").notNull(),
    amount: atomic("amount").notNull(),
    destination: addressBytes("destination").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    check("payout_amount", sql`${table.amount} > 0`),
  ],
);
