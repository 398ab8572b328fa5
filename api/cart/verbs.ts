import { and, eq } from "drizzle-orm";
import type { Executor, Tx } from "#store";
import { findProducts } from "../catalog/verbs/find.ts";
import { type PricedLine, priceLines } from "../catalog/verbs/price.ts";
import type { Call, MerchantCtx } from "../http/context.ts";
import type { WriteKey } from "../http/idempotency.ts";
import { pointingTo } from "../http/pointer.ts";
import { findMerchant } from "../merchant/verbs/merchant.ts";
import { type Checked, checkIntent, type IntentDesk, makeIntent } from "../payment-intent/verbs/create.ts";
import { presentIntent } from "../payment-intent/verbs/read.ts";
import { presentCart } from "./present.ts";
import type { CartCheckout, CartCheckoutInput, CartInput, PricedCart } from "./schema.ts";
import { cart } from "./tables.ts";

/** What a cart costs now. Needs no permission: a page of the merchant's asks. Faults: `product_not_found`,
 *  `product_inactive`, `price_missing`, `currency_unsupported`. */
export async function priceCart({ ctx, input }: Call<CartInput>): Promise<PricedCart> {
  return presentCart(await priced(ctx, input));
}

async function priced({ db, merchantId }: MerchantCtx, { currency, lines }: CartInput) {
  const ids = lines.map(({ productId }) => productId);
  return priceLines(await findProducts(db.pool, merchantId, ids), currency, lines);
}

/** A cart with its price, once it was found that it can be paid. */
export interface CheckedCart {
  readonly lines: readonly PricedLine[];
  readonly checked: Checked;
}

/** Prices a cart and finds out whether it can be paid as asked. Before a transaction: it may ask for rates. Faults: those
 *  of `priceCart` and of `checkIntent`. */
export async function checkCart(
  desk: Pick<IntentDesk, "facilitator" | "rates">,
  { ctx, input }: Call<CartCheckoutInput>,
): Promise<CheckedCart> {
  const { lines, total } = await priced(ctx, input);
  const wishes = { ...input, settlementAsset: undefined, provider: "evm" as const };
  const payee = await findMerchant(ctx.db.pool, ctx.merchantId);
  const checked = await pointingTo("/amount/amount", "/lines", () =>
    checkIntent(desk, { payee, money: total }, wishes),
  );
  return { lines, checked };
}

/** Makes a payment intent of a cart, and keeps what was in it. Needs no permission. Faults: `merchant_mismatch`,
 *  `return_url_not_allowed`, `idempotency_key_reused`. Source: merchant-api.md §2.2. */
export async function checkOutCart(
  desk: IntentDesk,
  {
    ctx,
    input: { currency, lines: _, executionPath: __, ...rest },
    found: { lines, checked },
    write,
  }: Call<CartCheckoutInput> & { readonly found: CheckedCart; readonly write: WriteKey | null },
): Promise<CartCheckout & { readonly isRepeated: boolean }> {
  return ctx.tx(async (tx) => {
    const merchant = await findMerchant(tx, ctx.merchantId);
    const input = { ...rest, provider: "evm" as const };
    const made = await makeIntent(desk, tx, ctx, { ...checked, merchant, source: "cart", input, write });
    if (!made.isRepeated) await keepCart(tx, ctx, { intentId: made.row.id, currency, lines });
    const paymentIntent = presentIntent(made.row, desk);
    return { paymentIntent, url: paymentIntent.checkoutUrl, isRepeated: made.isRepeated };
  });
}

/** Keeps the lines that an intent was made of, as they were priced. */
export async function keepCart(
  tx: Tx,
  { merchantId, newId, now }: Pick<MerchantCtx, "merchantId" | "newId" | "now">,
  of: { readonly intentId: `pi_${string}`; readonly currency: string; readonly lines: readonly PricedLine[] },
): Promise<void> {
  const { intentId, currency } = of;
  const lines = of.lines.map(({ productId, name, unitPrice, quantity }) => ({
    ...{ productId, name, quantity },
    unitPrice: unitPrice.amount.toString(),
  }));
  await tx
    .insert(cart)
    .values({ merchantId, id: newId("cart"), intentId, currency, lines, createdAt: now() });
}

/** The lines that an intent was made of, for receipts; null for one that was made of none. */
export async function linesOf(
  db: Executor,
  { merchantId, id }: { readonly merchantId: string; readonly id: `pi_${string}` },
): Promise<readonly Omit<PricedLine, "total">[] | null> {
  const [row] = await db
    .select()
    .from(cart)
    .where(and(eq(cart.merchantId, merchantId), eq(cart.intentId, id)));
  if (!row) return null;
  return row.lines.map((line) => ({
    ...line,
    unitPrice: { amount: BigInt(line.unitPrice), asset: row.currency },
  }));
}
