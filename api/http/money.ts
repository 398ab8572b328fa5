import { z } from "@hono/zod-openapi";
import { decimalsOfPrice, isStablecoin, priceDecimals } from "#kernel/asset";
import { formatDecimal, type Money as InnerMoney, parseDecimal } from "#kernel/money";
import { currencies, findCurrency } from "./currency.ts";
import { fault, invalid } from "./faults.ts";

const DECIMAL = /^(0|[1-9]\d{0,14})(\.\d{1,18})?$/;

/** What is said of text that is no amount, before an example. */
export const NOT_AN_AMOUNT = "a decimal string in major units";
const AS_WRITTEN =
  "no sign, no exponent, no separators, no leading zero; at most 15 digits before the point and 18 behind it";

/** An amount as people write it: `9,99` is `9.99`. With three digits behind it a comma may part thousands, so it
 *  stays, and is refused. */
export function writtenAmount(text: string): string {
  return /^\d+,\d\d?$/.test(text) ? text.replace(",", ".") : text;
}

/** Money in a request: a decimal string in major units. Numbers are refused, because they lose precision. */
export const MoneyInput = z
  .strictObject({
    amount: z
      .string()
      .regex(DECIMAL, `${NOT_AN_AMOUNT}, such as 0.01: ${AS_WRITTEN}`)
      // One spelling of an amount: what is written as 10.0 and as 10.00 is the same request.
      .transform((amount) => amount.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""))
      .openapi({ type: "string", pattern: DECIMAL.source, example: "0.01" }),
    asset: z.string().min(1).max(16).openapi({ example: "USD" }),
  })
  .openapi("MoneyInput");
export type MoneyInput = z.infer<typeof MoneyInput>;

export const Money = z
  .object({ amount: z.string(), asset: z.string(), formatted: z.string(), display: z.string() })
  .openapi("Money", {
    example: { amount: "0.01", asset: "USD", formatted: "0.01 USD", display: "$0.01" },
  });
export type Money = z.infer<typeof Money>;

/** An amount in the smallest unit of its currency: cents of USD, whole yen, millionths of USDC. Faults:
 *  `currency_unsupported`, `too_many_decimals`. Source: merchant-api.md §3.5. */
export function parseAmount({ amount, asset }: MoneyInput, pointer: string): InnerMoney {
  const decimals = findCurrency(asset)?.decimals;
  const supported = () => currencies.map(({ code }) => code);
  return parse({ amount, asset }, { decimals, supported, pointer });
}

/** An amount as people and programs read it: exactly the decimals of its currency. The inverse of `parseAmount`. */
export function presentAmount({ amount, asset }: InnerMoney): Money {
  const decimals = findCurrency(asset)?.decimals ?? 0;
  const exact = formatDecimal(amount, decimals);
  return present(asset, { exact, short: trimTo(exact, Math.min(2, decimals)) });
}

/** The price of a resource, where fiat may be finer than the coin: `priceDecimals`, not those of the currency. Faults:
 *  `currency_unsupported` for a unit without rails of its own, `too_many_decimals`. */
export function parsePrice({ amount, asset }: MoneyInput, pointer: string): InnerMoney {
  const decimals = Object.hasOwn(priceDecimals, asset) ? priceDecimals[asset] : undefined;
  const supported = () => Object.keys(priceDecimals);
  return parse({ amount, asset }, { decimals, supported, pointer });
}

/** A price as people and programs read it. Tokens have all their decimals, a fiat price at least two. The inverse of
 *  `parsePrice`. */
export function presentPrice({ amount, asset }: InnerMoney): Money {
  const decimals = decimalsOfPrice(asset);
  const exact = formatDecimal(amount, decimals);
  const short = trimTo(exact, Math.min(2, decimals));
  return present(asset, { exact: isStablecoin(asset) ? exact : short, short });
}

interface Scale {
  readonly decimals: number | undefined;
  readonly supported: () => readonly string[];
  readonly pointer: string;
}

function parse({ amount, asset }: MoneyInput, { decimals, supported, pointer }: Scale): InnerMoney {
  if (decimals === undefined)
    throw fault("currency_unsupported", {
      ...{ asset, supported: supported().join(", ") },
      pointer: `${pointer}/asset`,
    });
  const atomic = parseDecimal(amount, decimals);
  if (atomic === "too_many_decimals")
    throw fault("too_many_decimals", { asset, decimals, pointer: `${pointer}/amount` });
  if (atomic === "not_a_decimal") throw invalid(`${pointer}/amount`, `${NOT_AN_AMOUNT}, such as 12.50`);
  return { amount: atomic, asset };
}

function present(asset: string, { exact, short }: { readonly exact: string; readonly short: string }): Money {
  const sign = findCurrency(asset)?.sign ?? null;
  const formatted = `${grouped(short)} ${asset}`;
  return { amount: exact, asset, formatted, display: sign === null ? formatted : sign + grouped(short) };
}

/** Without the zeros at the end, but with at least `places` decimals. */
function trimTo(decimal: string, places: number): string {
  const [whole = "0", fraction = ""] = decimal.split(".");
  const kept = fraction.replace(/0+$/, "").padEnd(places, "0");
  return kept === "" ? whole : `${whole}.${kept}`;
}

function grouped(decimal: string): string {
  const [whole = "0", fraction] = decimal.split(".");
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? thousands : `${thousands}.${fraction}`;
}
