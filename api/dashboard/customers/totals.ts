import { type Money, parseAmount, presentAmount } from "../../http/money.ts";
import type { Invoice } from "../../invoice/schema.ts";

/** What these invoices come to, in each of their currencies. */
export interface Total {
  readonly currency: string;
  readonly paid: Money;
  readonly owed: Money;
}

/** Adds up what was issued: a draft asks nobody for anything. */
export function totalsOf(invoices: readonly Invoice[]): readonly Total[] {
  const issued = invoices.filter(({ state }) => state !== "draft");
  const currencies = [...new Set(issued.map(({ currency }) => currency))];
  return currencies.map((currency) => {
    const own = issued.filter((each) => each.currency === currency);
    return {
      currency,
      paid: sumOf(
        own.map(({ paid }) => paid),
        currency,
      ),
      owed: sumOf(
        own.map(({ outstanding }) => outstanding),
        currency,
      ),
    };
  });
}

function sumOf(amounts: readonly Money[], asset: string): Money {
  const amount = amounts.reduce((sum, each) => sum + parseAmount(each, "").amount, 0n);
  return presentAmount({ amount, asset });
}
