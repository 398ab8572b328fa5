import { findCurrency } from "../http/currency.ts";
import type { Money } from "../http/money.ts";
import { presentAmount } from "../http/money.ts";
import type { Rate } from "../rate/verbs.ts";
import type { QuoteLine } from "./schema.ts";

/** A line in the words of the request: `USDC@base` stays that, for people it is USDC. */
export function presentLine(asset: string, amount: bigint, rate: Rate): QuoteLine {
  return {
    asset,
    amount: { ...presentAmount({ amount, asset: rate.to }), asset },
    rate: { scaledRate: rate.scaledRate.toString(), source: rate.source },
    available: true,
  };
}

/** What cannot be priced, or paid with here, keeps the shape of a line. Source: interface §4 rule 2. */
export function presentUnavailable(asset: string): QuoteLine {
  return {
    asset,
    amount: nothingOf(asset),
    rate: { scaledRate: "0", source: "none" },
    available: false,
  };
}

function nothingOf(asset: string): Money {
  const formatted = `0 ${findCurrency(asset)?.code ?? asset}`;
  return { amount: "0", asset, formatted, display: formatted };
}
