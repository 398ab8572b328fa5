import type { Money } from "#kernel/money";
import { presentAmount } from "../http/money.ts";
import type { Product } from "./schema.ts";
import type { product } from "./tables.ts";

/** A product with its prices, in their order. */
export type ProductRow = typeof product.$inferSelect & { readonly prices: readonly Money[] };

/** Source: interface §2.11. */
export function presentProduct(row: ProductRow): Product {
  return {
    id: row.id,
    merchantId: row.merchantId,
    sku: row.sku,
    name: row.name,
    description: row.description,
    prices: row.prices.map(presentAmount),
    active: row.active,
    metadata: { ...row.metadata },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
  };
}
