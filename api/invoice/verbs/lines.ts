import type { Tx } from "#store";
import { findProducts, type ProductRow } from "../../catalog/verbs/find.ts";
import { checkCurrency, priceLine } from "../../catalog/verbs/price.ts";
import { fault, invalid } from "../../http/faults.ts";
import { type MoneyInput, parseAmount } from "../../http/money.ts";
import type { InvoiceLineInput } from "../schema.ts";
import type { StoredLine } from "../tables.ts";

/** What a bill is made of. */
export interface Bill {
  readonly currency: string;
  readonly lines: readonly StoredLine[];
  readonly total: bigint;
}

interface Asked {
  readonly merchantId: string;
  readonly currency: string;
  readonly lines: readonly InvoiceLineInput[];
  /** What it is made of so far, in the same currency. */
  readonly before?: readonly StoredLine[];
}

/** Prices lines: products from the catalog, save those that were there before, the others as they say. Faults:
 *  `currency_unsupported`, `too_many_decimals`, `amount_too_small`, `product_not_found`, `product_inactive`, `price_missing`;
 *  `validation_failed` for a price in another currency. */
export async function priceBill(tx: Tx, { merchantId, currency, lines, before = [] }: Asked): Promise<Bill> {
  checkCurrency(currency);
  const kept = keptOf(before, lines);
  const named = lines.flatMap(({ productId }, i) => (productId === undefined || kept[i] ? [] : [productId]));
  const products = named.length === 0 ? new Map() : await findProducts(tx, merchantId, named);
  const stored = lines.map((line, i) => {
    const was = kept[i];
    return was ? { ...was, quantity: line.quantity } : storedOf(products, currency, line, i);
  });
  const total = stored.reduce(
    (sum, { unitPrice, quantity }) => sum + BigInt(unitPrice) * BigInt(quantity),
    0n,
  );
  if (total <= 0n) throw fault("amount_too_small", { asset: currency, minimum: "0.01", pointer: "/lines" });
  return { currency, lines: stored, total };
}

/** For each line of a product what it was before, wherever it stood: what was agreed on stays, whatever became of the
 *  catalog. */
function keptOf(
  before: readonly StoredLine[],
  lines: readonly InvoiceLineInput[],
): readonly (StoredLine | undefined)[] {
  const left = before.filter(({ productId }) => productId !== null);
  return lines.map((line) => {
    const place = left.findIndex(({ productId }) => productId === line.productId);
    return place < 0 ? undefined : left.splice(place, 1)[0];
  });
}

function storedOf(
  products: ReadonlyMap<string, ProductRow>,
  currency: string,
  { productId, name = "", unitPrice, quantity }: InvoiceLineInput,
  i: number,
): StoredLine {
  if (productId !== undefined) {
    const priced = priceLine(products, currency, { productId, quantity }, i);
    return { productId, name: priced.name, unitPrice: priced.unitPrice.amount.toString(), quantity };
  }
  const price = priceIn(currency, unitPrice ?? { amount: "0", asset: currency }, `/lines/${i}/unitPrice`);
  return { productId: null, name, unitPrice: price.toString(), quantity };
}

/** What is kept is a number alone, so it has to be one of the bill's own currency. */
function priceIn(currency: string, price: MoneyInput, pointer: string): bigint {
  if (price.asset !== currency)
    throw invalid(
      `${pointer}/asset`,
      `${currency}, the invoice's currency, not ${price.asset}; send currency too to bill in another one`,
    );
  return parseAmount(price, pointer).amount;
}
