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
} from "drizzle-orm/pg-core";
import { atomic, hashBytes, instant } from "#store";
import type { LineInput } from "../catalog/schema.ts";
import { merchant } from "../merchant/tables.ts";
import { type LinkKind, linkKinds } from "./state.ts";

/** A standing offer to be paid, by whoever holds its URL. Amounts in atomic units of `currency`. */
export const paymentLink = pgTable(
  "payment_link",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`plink_${string}`>().notNull(),
    kind: text("kind").$type<LinkKind>().notNull(),
    currency: text("currency").notNull(),
    /** Of a fixed link; of a cart, what it last cost, for agents who still hold its URL; of an open one, nothing. */
    amount: atomic("amount"),
    minAmount: atomic("min_amount"),
    maxAmount: atomic("max_amount"),
    lines: jsonb("lines").$type<readonly LineInput[]>().notNull(),
    merchantName: text("merchant_name").notNull(),
    merchantCity: text("merchant_city").notNull(),
    merchantCountryCode: text("merchant_country_code").notNull(),
    merchantCategoryCode: text("merchant_category_code"),
    title: text("title"),
    merchantReference: text("merchant_reference"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    returnUrl: text("return_url"),
    listed: boolean("listed").notNull(),
    maxPayments: integer("max_payments"),
    expiresAt: instant("expires_at"),
    disabledAt: instant("disabled_at"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
    /** Grows with every change that its merchant makes. */
    version: integer("version").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    foreignKey({ columns: [table.merchantId], foreignColumns: [merchant.id] }),
    // Its payers know the id alone.
    index("payment_link_id").on(table.id),
    index("payment_link_lines").using("gin", sql`${table.lines} jsonb_path_ops`).where(sql`kind = 'cart'`),
    check(
      "payment_link_kind_known",
      sql`${table.kind} IN (${sql.raw(linkKinds.map((kind) => `'${kind}'`).join(","))})`,
    ),
    check("payment_link_amount", sql`(${table.kind} = 'open') = (${table.amount} IS NULL)`),
    check("payment_link_max_payments", sql`${table.maxPayments} > 0`),
  ],
);

/** Intents that were made at a link's checkout, and from where: what one address may leave unpaid is bounded. */
export const paymentLinkCheckout = pgTable(
  "payment_link_checkout",
  {
    merchantId: text("merchant_id").notNull(),
    intentId: text("intent_id").$type<`pi_${string}`>().notNull(),
    linkId: text("link_id").$type<`plink_${string}`>().notNull(),
    /** A hash of the address, which is of no other use. */
    address: hashBytes("address").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.intentId] }),
    foreignKey({
      name: "payment_link_checkout_link",
      columns: [table.merchantId, table.linkId],
      foreignColumns: [paymentLink.merchantId, paymentLink.id],
    }),
    index("payment_link_checkout_address").on(
      table.merchantId,
      table.linkId,
      table.address,
      table.createdAt.desc(),
    ),
  ],
);
