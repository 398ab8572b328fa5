import type { RailFacts } from "#facilitator";
import type { Money } from "#kernel/money";
import { formatDecimal } from "#kernel/money";
import { findCurrency } from "../http/currency.ts";
import { fault } from "../http/faults.ts";
import { parseAmount, presentAmount } from "../http/money.ts";
import { convert, type Pricing } from "../rate/verbs.ts";
import { presentLine, presentUnavailable } from "./present.ts";
import type { Quote, QuoteInput, QuoteLine } from "./schema.ts";

/** What an amount comes to in each payer asset, one line for each asked for, in that order. Indicative: nothing is kept
 *  and nothing is promised. Faults: `currency_unsupported`, `too_many_decimals`, `amount_too_small`. Source:
 *  merchant-api.md §2.2. */
export async function quote(
  pricing: Pick<Pricing, "rates" | "facilitator">,
  { input }: { readonly input: QuoteInput },
): Promise<Quote> {
  const source = parseAmount(input.amount, "/amount");
  if (source.amount === 0n) throw tooSmall(source.asset);
  const quotes = await Promise.all(input.assets.map((asset) => line(pricing, source, asset)));
  return { source: presentAmount(source), quotes };
}

async function line(
  { rates, facilitator }: Pick<Pricing, "rates" | "facilitator">,
  source: Money,
  asset: string,
): Promise<QuoteLine> {
  const [symbol = "", chain] = split(asset);
  if (!facilitator.rails().some((rail) => rail.asset === symbol && isOn(rail, chain)))
    return presentUnavailable(asset);
  const answer = await rates.rate({ from: source.asset, to: symbol });
  if (!answer.ok) return presentUnavailable(asset);
  return presentLine(asset, convert(source, answer.rate).amount, answer.rate);
}

/** `USDC@base` → the token and its chain, by slug or by CAIP-2 id. */
function split(asset: string): readonly [symbol: string, chain: string | null] {
  const at = asset.indexOf("@");
  return at < 0 ? [asset, null] : [asset.slice(0, at), asset.slice(at + 1)];
}

function isOn({ chain, network }: RailFacts, asked: string | null): boolean {
  return asked === null || asked === chain || asked === network;
}

function tooSmall(asset: string) {
  const minimum = formatDecimal(1n, findCurrency(asset)?.decimals ?? 0);
  return fault("amount_too_small", { minimum, asset, pointer: "/amount/amount" });
}
