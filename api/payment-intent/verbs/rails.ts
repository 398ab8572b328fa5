import type { Facilitator, RailFacts } from "#facilitator";
import { atParity, isStablecoin, pegs, priceDecimals } from "#kernel/asset";
import { formatDecimal, type Money, mulDivCeil } from "#kernel/money";
import { findCurrency } from "../../http/currency.ts";
import { fault } from "../../http/faults.ts";
import { convert, type Rate, type Rates } from "../../rate/verbs.ts";
import type { AskedRail } from "../tables.ts";

/** What choosing a rail needs. */
export interface RailChoice {
  readonly facilitator: Pick<Facilitator, "rails">;
  readonly rates: Rates;
}
/** What a rail is chosen by. One that does not work now does not tell of a router: it may have one. */
export type AskableRail = Pick<RailFacts, "chain" | "network" | "asset"> & Partial<Pick<RailFacts, "router">>;
/** A rail with what an amount costs there. */
export interface PricedRail {
  readonly rail: RailFacts;
  readonly rate: Rate;
  /** Of the rail's token. */
  readonly due: Money;
}

/** The rails that meet what was asked, those at parity with the amount first, USDC before others. A chain named without
 *  an asset means its default one. Fault: `rail_unsupported`, pointing at the word that leaves none. */
export function railsFor<R extends AskableRail>(
  rails: readonly R[],
  { executionPath, settlementAsset, asset, chain }: AskedRail,
  currency: string,
): readonly R[] {
  const left = narrow(rails);
  if (chain !== undefined)
    left.to((rail) => rail.chain === chain || rail.network === chain, chain, "/payment/chain");
  if (settlementAsset !== undefined)
    left.to((rail) => rail.asset === settlementAsset, settlementAsset, "/settlementAsset");
  if (asset !== undefined) left.to((rail) => rail.asset === asset, asset, "/payment/asset");
  if (executionPath === "on-chain-contract")
    left.to(({ router }) => router !== null, executionPath, "/executionPath");
  return inOrder(chain === undefined ? left.rails() : left.rails().slice(0, 1), currency);
}

/** Filters one after the other; the one that leaves nothing is the reason, with those before it. */
function narrow<R extends AskableRail>(all: readonly R[]) {
  let left = all;
  const asked: string[] = [];
  return {
    to(fits: (rail: R) => boolean, rail: string, pointer: string) {
      left = left.filter(fits);
      const beside = asked.length === 0 ? "" : ` together with ${asked.join(" and ")}`;
      if (left.length === 0) throw fault("rail_unsupported", { rail: rail + beside, pointer });
      asked.push(rail);
    },
    rails() {
      if (left.length === 0) throw fault("rail_unsupported", { rail: "any chain of this deployment" });
      return left;
    },
  };
}

/** Rails at parity with the amount first, USDC before others. */
export function inOrder<R extends AskableRail>(rails: readonly R[], currency: string): readonly R[] {
  const rank = ({ asset }: R) => (atParity(currency, asset) ? 0 : 2) + (asset === "USDC" ? 0 : 1);
  return [...rails].sort((a, b) => rank(a) - rank(b));
}

const MOST_UNITS = 1_000_000n;

/** The first of the rails on which the amount can be paid now. Faults: `rate_unavailable` when none can be priced,
 *  `amount_too_small` when it is below the least amount of all, `amount_too_large`. */
export async function priceRails(
  { rates }: Pick<RailChoice, "rates">,
  money: Money,
  rails: readonly RailFacts[],
): Promise<PricedRail> {
  const byAsset = new Map<string, Rate | null>();
  let least: PricedRail | null = null;
  for (const rail of rails) {
    if (!byAsset.has(rail.asset)) byAsset.set(rail.asset, await rateTo(rates, money.asset, rail.asset));
    const rate = byAsset.get(rail.asset);
    if (!rate) continue;
    const priced = { rail, rate, due: convert(money, rate) };
    if (priced.due.amount > MOST_UNITS * 10n ** BigInt(rail.decimals))
      throw fault("amount_too_large", {
        asset: rail.asset,
        maximum: MOST_UNITS.toString(),
        pointer: "/amount/amount",
      });
    if (priced.due.amount >= rail.minimum) return priced;
    if (!least || rail.minimum < least.rail.minimum) least = priced;
  }
  if (!least)
    throw fault("rate_unavailable", { from: money.asset, to: rails.map(({ asset }) => asset).join(", ") });
  const { asset, decimals, minimum } = least.rail;
  throw fault("amount_too_small", {
    asset,
    minimum: formatDecimal(minimum, decimals),
    pointer: "/amount/amount",
  });
}

async function rateTo(rates: Rates, from: string, to: string): Promise<Rate | null> {
  const answer = await rates.rate({ from, to });
  return answer.ok ? answer.rate : null;
}

const MAXIMUM = 1_000_000n;
/** Nothing that amounts are written in is worth more dollars than this, so most amounts need no rate to be judged. */
const MOST_DOLLARS_FOR_ONE = 2n;

/** Refuses amounts that are never taken, whatever the rail. What nobody can price now passes: it is judged once it is
 *  priced, before anybody pays. Faults: `amount_too_small`, `amount_too_large`. Source: merchant-api.md §3.5. */
export async function checkAmount(
  { rates }: Pick<RailChoice, "rates">,
  { amount, asset }: Money,
  { executionPath, pointer = "/amount/amount" }: AskedRail & { readonly pointer?: string },
): Promise<void> {
  const decimals = findCurrency(asset)?.decimals ?? 0;
  const isFine = executionPath === "x402";
  const least = isFine || decimals < 2 ? 1n : 10n ** BigInt(decimals - 2);
  const about = { asset, pointer };
  if (amount < least) throw fault("amount_too_small", { ...about, minimum: formatDecimal(least, decimals) });
  const one = 10n ** BigInt(decimals);
  if (amount * MOST_DOLLARS_FOR_ONE <= MAXIMUM * one) return;
  const rate = await rateTo(rates, asset, "USD");
  // Agents pay a coin at parity without a rate, so its number is bounded as on a rail.
  if (!rate && !atParity(asset, coinOf(asset))) return;
  const dollars = rate ? convert({ amount, asset }, rate).amount : mulDivCeil(amount, 100n, one);
  if (dollars > MAXIMUM * 100n)
    throw fault("amount_too_large", { asset: "USD", pointer, maximum: MAXIMUM.toString() });
}

/** An amount at the decimals of a price, as agents are shown it; null for a unit that prices are not written in. */
export function asPrice({ amount, asset }: Money): Money | null {
  const to = priceDecimals[asset];
  const from = findCurrency(asset)?.decimals;
  if (to === undefined || from === undefined) return null;
  return { amount: mulDivCeil(amount, 10n ** BigInt(to), 10n ** BigInt(from)), asset };
}

/** What is told of an amount as a price: at its decimals where prices are written in its unit, else as it is. */
export function priceOf(money: Money): Money {
  return asPrice(money) ?? money;
}

/** Refuses what is below the least amount of every rail at parity. Fault: `amount_too_small`. */
export function checkFloor(price: Money, atPar: readonly RailFacts[]): void {
  const least = atPar.reduce<RailFacts | null>(
    (lowest, rail) => (lowest && lowest.minimum <= rail.minimum ? lowest : rail),
    null,
  );
  if (!least || price.amount >= least.minimum) return;
  const minimum = formatDecimal(least.minimum, least.decimals);
  throw fault("amount_too_small", { asset: least.asset, minimum, pointer: "/amount/amount" });
}

/** Another provider than our own has no rails to look at, and is paid in coins alone. Fault: `rail_unsupported`. */
export function demandCoin({ asset }: Pick<AskedRail, "asset">): void {
  if (asset !== undefined && !isStablecoin(asset))
    throw fault("rail_unsupported", { rail: asset, pointer: "/payment/asset" });
}

/** The coin that an amount is paid with where nobody chose one. */
export function coinOf(currency: string): string {
  return Object.keys(pegs).find((coin) => atParity(currency, coin)) ?? "USDC";
}
