import { atParity, isStablecoin } from "#kernel/asset";
import type { Money } from "#kernel/money";
import { inToken, type OfferedRail } from "./requirements.ts";

/** What a price comes to in one coin. */
export interface Estimate {
  readonly coin: string;
  /** Null where the coin cannot be priced, or is paid nowhere here. Atomic units at `decimals`. */
  readonly amount: { readonly atomic: bigint; readonly decimals: number } | null;
  /** CAIP-2 networks on which that amount is taken. */
  readonly networks: readonly string[];
}

/** One line for each coin asked for, in that order. Indicative: only a 402 binds. A coin that has no price here is a
 *  line without an amount, never an error. Source: interface §4 rule 2. */
export function estimate(
  price: Money,
  coins: readonly string[],
  rails: readonly OfferedRail[],
): readonly Estimate[] {
  return coins.map((coin) => {
    const offers = isStablecoin(coin) && atParity(price.asset, coin) ? offersIn(price, coin, rails) : [];
    const [first] = offers;
    return { coin, amount: first?.amount ?? null, networks: offers.map(({ network }) => network) };
  });
}

function offersIn(price: Money, coin: string, rails: readonly OfferedRail[]) {
  return rails
    .filter(({ rail }) => rail.token.symbol === coin)
    .map(({ chain, rail: { token } }) => ({
      network: chain.network,
      minimum: chain.dustFloor,
      amount: { atomic: inToken(price.amount, price.asset, token.decimals), decimals: token.decimals },
    }))
    .filter(({ amount, minimum }) => amount.atomic >= minimum);
}
