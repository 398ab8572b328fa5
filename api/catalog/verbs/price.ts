import type { Money } from "#kernel/money";
import { currencies, findCurrency } from "../../http/currency.ts";
import { fault } from "../../http/faults.ts";
import type { LineInput } from "../schema.ts";
import type { ProductRow } from "./find.ts";

/** A line with what it costs. */
export interface PricedLine {
  readonly productId: string;
  readonly name: string;
  readonly unitPrice: Money;
  readonly quantity: number;
  readonly total: Money;
}

/** What lines of products cost in a currency, by the prices that the merchant gave. Faults, each pointing at its line:
 *  `product_not_found`, `product_inactive`, `price_missing`; `currency_unsupported`. */
export function priceLines(
  products: ReadonlyMap<string, ProductRow>,
  currency: string,
  lines: readonly LineInput[],
): { readonly lines: readonly PricedLine[]; readonly total: Money } {
  checkCurrency(currency);
  const priced = lines.map((line, i) => priceLine(products, currency, line, i));
  const total = priced.reduce((sum, line) => sum + line.total.amount, 0n);
  return { lines: priced, total: { amount: total, asset: currency } };
}

/** Fault: `currency_unsupported`. */
export function checkCurrency(currency: string): void {
  if (findCurrency(currency)) return;
  const supported = currencies.map(({ code }) => code).join(", ");
  throw fault("currency_unsupported", { asset: currency, supported, pointer: "/currency" });
}

/** The same for one line among others, which stands at `i`. */
export function priceLine(
  products: ReadonlyMap<string, ProductRow>,
  currency: string,
  { productId, quantity }: LineInput,
  i: number,
): PricedLine {
  const pointer = `/lines/${i}/productId`;
  const found = products.get(productId);
  if (!found) throw fault("product_not_found", { productId, pointer });
  if (!found.active) throw fault("product_inactive", { productId, pointer });
  const unitPrice = found.prices.find(({ asset }) => asset === currency);
  if (!unitPrice) throw fault("price_missing", { productId, currency, pointer });
  const total = { amount: unitPrice.amount * BigInt(quantity), asset: currency };
  return { productId, name: found.name, unitPrice, quantity, total };
}
