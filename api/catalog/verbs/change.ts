import { and, eq } from "drizzle-orm";
import { isId } from "#kernel/id";
import type { Money } from "#kernel/money";
import { isUniqueViolation, outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { type MoneyInput, parseAmount } from "../../http/money.ts";
import { type ProductRow, presentProduct } from "../present.ts";
import type { Product, ProductChange, ProductInput, ProductPath } from "../schema.ts";
import { product, productPrice } from "../tables.ts";
import { withPrices } from "./find.ts";

/** Faults: `merchant_mismatch`, `sku_taken`, `currency_unsupported`, `too_many_decimals`. */
export async function createProduct({ ctx, input }: Call<ProductInput>): Promise<Product> {
  ctx.demand("catalog:manage");
  checkMerchant(ctx, input);
  const prices = parsePrices(input.prices);
  const at = ctx.now();
  const row = {
    ...{ merchantId: ctx.merchantId, id: ctx.newId("prod"), sku: input.sku, name: input.name },
    ...{ description: input.description ?? null, active: input.active, metadata: input.metadata ?? {} },
    ...{ createdAt: at, updatedAt: at, version: 1 },
  };
  return ctx.tx(async (tx) => {
    const made = await tx.insert(product).values(row).onConflictDoNothing().returning({ id: product.id });
    if (made.length === 0) throw skuTaken();
    await keepPrices(tx, row, prices);
    return presentProduct({ ...row, prices });
  });
}

/** Changes what is given, and tells the house; what was already so is no change. Faults: `not_found`,
 *  `version_conflict`, and those of making one. */
export async function changeProduct({ ctx, input }: Call<ProductChange & ProductPath>): Promise<Product> {
  ctx.demand("catalog:manage");
  checkMerchant(ctx, input);
  const prices = input.prices && parsePrices(input.prices);
  try {
    return await ctx.tx(async (tx) => {
      const before = await lock(tx, ctx.merchantId, input.id);
      if (input.version !== undefined && input.version !== before.version)
        throw fault("version_conflict", { currentVersion: before.version, pointer: "/version" });
      const after = changed(before, input, prices);
      if (textOf(after) === textOf(before)) return presentProduct(before);
      return presentProduct(await write(tx, ctx, after, prices));
    });
  } catch (error) {
    if (isUniqueViolation(error, "product_sku")) throw skuTaken(error);
    throw error;
  }
}

function skuTaken(cause?: unknown) {
  return fault("sku_taken", { pointer: "/sku" }, cause);
}

function checkMerchant(
  { merchantId }: MerchantCtx,
  input: { readonly merchantId?: string | undefined },
): void {
  if (input.merchantId !== undefined && input.merchantId !== merchantId)
    throw fault("merchant_mismatch", { pointer: "/merchantId" });
}

function parsePrices(prices: readonly MoneyInput[]): readonly Money[] {
  return prices.map((price, i) => parseAmount(price, `/prices/${i}`));
}

async function lock(tx: Tx, merchantId: string, id: string): Promise<ProductRow> {
  const rows = isId("prod", id)
    ? await tx
        .select()
        .from(product)
        .where(and(eq(product.merchantId, merchantId), eq(product.id, id)))
        .for("update")
    : [];
  const [found] = await withPrices(tx, merchantId, rows);
  if (!found) throw fault("not_found");
  return found;
}

function changed(
  before: ProductRow,
  { sku, name, description, active, metadata }: ProductChange,
  prices: readonly Money[] | undefined,
): ProductRow {
  return {
    ...before,
    sku: sku ?? before.sku,
    name: name ?? before.name,
    description: description === undefined ? before.description : description,
    active: active ?? before.active,
    metadata: metadata ?? before.metadata,
    prices: prices ?? before.prices,
  };
}

function textOf({ sku, name, description, active, metadata, prices }: ProductRow): string {
  const kept = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  const costs = prices.map(({ amount, asset }) => [amount.toString(), asset]);
  return JSON.stringify([sku, name, description, active, kept, costs]);
}

async function write(
  tx: Tx,
  ctx: MerchantCtx,
  after: ProductRow,
  prices: readonly Money[] | undefined,
): Promise<ProductRow> {
  const { sku, name, description, active, metadata } = after;
  const moved = { updatedAt: ctx.now(), version: after.version + 1 };
  await tx
    .update(product)
    .set({ sku, name, description, active, metadata, ...moved })
    .where(and(eq(product.merchantId, after.merchantId), eq(product.id, after.id)));
  if (prices) {
    const { merchantId, productId } = productPrice;
    await tx.delete(productPrice).where(and(eq(merchantId, after.merchantId), eq(productId, after.id)));
    await keepPrices(tx, after, prices);
  }
  const about = { merchantId: after.merchantId, subject: after.id, payload: { productId: after.id } };
  await outbox.append(tx, [{ id: ctx.newId("evt"), type: "product.updated", ...about }]);
  return { ...after, ...moved };
}

async function keepPrices(
  tx: Tx,
  { merchantId, id }: Pick<ProductRow, "merchantId" | "id">,
  prices: readonly Money[],
): Promise<void> {
  await tx
    .insert(productPrice)
    .values(prices.map((price, place) => ({ merchantId, productId: id, ...price, place })));
}
