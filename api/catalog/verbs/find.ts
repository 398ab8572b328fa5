import { and, asc, desc, eq, inArray, lt } from "drizzle-orm";
import { isId } from "#kernel/id";
import type { Executor } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { Page } from "../../http/page.ts";
import { type ProductRow, presentProduct } from "../present.ts";
import type { Product, ProductFilter, ProductPath } from "../schema.ts";
import { product, productPrice } from "../tables.ts";

export type { ProductRow } from "../present.ts";

/** The merchant's products with these ids, by id; what is not there is left out. Two statements, however many. */
export async function findProducts(
  db: Executor,
  merchantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProductRow>> {
  const wanted = [...new Set(ids)].filter((id) => isId("prod", id));
  if (wanted.length === 0) return new Map();
  const rows = await db
    .select()
    .from(product)
    .where(and(eq(product.merchantId, merchantId), inArray(product.id, wanted)));
  const found = await withPrices(db, merchantId, rows);
  return new Map(found.map((row) => [row.id, row]));
}

/** The rows with their prices, in their order. */
export async function withPrices(
  db: Executor,
  merchantId: string,
  rows: readonly Omit<ProductRow, "prices">[],
): Promise<readonly ProductRow[]> {
  const ids = rows.map(({ id }) => id);
  const prices =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(productPrice)
          .where(and(eq(productPrice.merchantId, merchantId), inArray(productPrice.productId, ids)))
          .orderBy(asc(productPrice.place));
  return rows.map((row) => ({
    ...row,
    prices: prices
      .filter(({ productId }) => productId === row.id)
      .map(({ amount, asset }) => ({ amount, asset })),
  }));
}

/** The merchant's products, newest first; one more than the page holds when there are more. A publishable key is shown
 *  the active ones. Fault: `merchant_mismatch`. */
export async function listProducts({
  ctx,
  input: { merchantId, active, sku, after, limit },
}: Call<Page & ProductFilter>): Promise<readonly Product[]> {
  if (merchantId !== undefined && merchantId !== ctx.merchantId)
    throw fault("merchant_mismatch", { pointer: "/query/merchantId" });
  if (isBuyer(ctx) && active === "false") return [];
  const isActive = isBuyer(ctx) ? "true" : active;
  const rows = await ctx.db.pool
    .select()
    .from(product)
    .where(
      and(
        eq(product.merchantId, ctx.merchantId),
        isActive === undefined ? undefined : eq(product.active, isActive === "true"),
        sku === undefined ? undefined : eq(product.sku, sku),
        after === null ? undefined : lt(product.id, after as ProductRow["id"]),
      ),
    )
    .orderBy(desc(product.id))
    .limit(limit + 1);
  return (await withPrices(ctx.db.pool, ctx.merchantId, rows)).map(presentProduct);
}

/** Fault: `not_found`, for a publishable key also of what is not active. */
export async function readProduct({ ctx, input }: Call<ProductPath>): Promise<Product> {
  const found = (await findProducts(ctx.db.pool, ctx.merchantId, [input.id])).get(input.id);
  if (!found || (isBuyer(ctx) && !found.active)) throw fault("not_found");
  return presentProduct(found);
}

/** A page that buyers see. */
function isBuyer({ scope }: MerchantCtx): boolean {
  return scope.kind === "pk";
}
