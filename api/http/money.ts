import { z } from "@hono/zod-openapi";
import { isStablecoin, priceDecimals } from "#kernel/asset";
import { formatDecimal, type Money as InnerMoney, parseDecimal } from "#kernel/money";
import { fault } from "./faults.ts";

const signs: Readonly<Record<string, string>> = { USD: "$", EUR: "€" };

/** Money in a request: a decimal string in major units. Numbers are refused, because they lose precision. */
export const MoneyInput = z
  .strictObject({
    amount: z
      .string()
      .regex(/^(0|[1-9]\d{0,14})(\.\d{1,18})?$/, "a decimal string in major units, such as 0.01")
      .openapi({ example: "0.01" }),
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

/** A price. Faults: `currency_unsupported` for a unit without rails of its own, `too_many_decimals`. */
export function parsePrice({ amount, asset }: MoneyInput, pointer: string): InnerMoney {
  const decimals = Object.hasOwn(priceDecimals, asset) ? priceDecimals[asset] : undefined;
  if (decimals === undefined)
    throw fault("currency_unsupported", { asset, supported: Object.keys(priceDecimals).join(", "), pointer });
  const atomic = parseDecimal(amount, decimals);
  if (atomic === "too_many_decimals")
    throw fault("too_many_decimals", { asset, decimals, pointer: `${pointer}/amount` });
  if (atomic === "not_a_decimal") throw fault("validation_failed", { pointer: `${pointer}/amount` });
  return { amount: atomic, asset };
}

/** A price as people and programs read it. Tokens have all their decimals, a fiat price at least two. */
export function presentMoney({ amount, asset }: InnerMoney): Money {
  const exact = formatDecimal(amount, priceDecimals[asset] ?? 0);
  const short = trimTo(exact, 2);
  const formatted = `${grouped(short)} ${asset}`;
  const sign = signs[asset];
  return {
    amount: isStablecoin(asset) ? exact : short,
    asset,
    formatted,
    display: sign === undefined ? formatted : `${sign}${grouped(short)}`,
  };
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
