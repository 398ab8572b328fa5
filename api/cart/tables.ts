import { foreignKey, jsonb, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { instant } from "#store";
import { paymentIntent } from "../payment-intent/tables.ts";

/** A line as it was priced. Amounts in atomic units of the cart's currency, as digits. */
export interface KeptLine {
  readonly productId: string;
  readonly name: string;
  readonly unitPrice: string;
  readonly quantity: number;
}

/** What was in a cart that became a payment intent: names and prices of that moment, for receipts. */
export const cart = pgTable(
  "cart",
  {
    merchantId: text("merchant_id").notNull(),
    id: text("id").$type<`cart_${string}`>().notNull(),
    intentId: text("intent_id").$type<`pi_${string}`>().notNull(),
    currency: text("currency").notNull(),
    lines: jsonb("lines").$type<readonly KeptLine[]>().notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.id] }),
    uniqueIndex("cart_intent").on(table.merchantId, table.intentId),
    foreignKey({
      columns: [table.merchantId, table.intentId],
      foreignColumns: [paymentIntent.merchantId, paymentIntent.id],
    }),
  ],
);
