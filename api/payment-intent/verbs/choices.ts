import type { RailFacts } from "#facilitator";
import { Fault } from "#kernel/fault";
import type { Rate } from "../../rate/verbs.ts";
import type { IntentRow } from "../present.ts";
import { inOrder, priceRails, type RailChoice } from "./rails.ts";

/** Why a rail cannot be taken now. */
export type RailProblem = "rate_unavailable" | "amount_too_small" | "amount_too_large";
/** A rail as a payer is shown it: what it costs there, or why it does not work. */
export type RailOffer = { readonly rail: RailFacts } & (
  | { readonly ok: true; readonly due: bigint; readonly rate: Rate }
  | { readonly ok: false; readonly problem: RailProblem }
);

type Asked = Pick<IntentRow, "amount" | "currency" | "asked">;

/** Every one of these rails that the merchant takes for an intent, with its price: those it was made for first. May ask for
 *  rates. */
export async function offerRails(
  { rates }: Pick<RailChoice, "rates">,
  rails: readonly RailFacts[],
  { amount, currency, asked }: Asked,
): Promise<readonly RailOffer[]> {
  const { settlementAsset, asset, chain } = asked;
  const taken = rails.filter((rail) => settlementAsset === undefined || rail.asset === settlementAsset);
  const rank = (rail: RailFacts) => Number(chain !== rail.chain) * 2 + Number(asset !== rail.asset);
  const sorted = [...inOrder(taken, currency)].sort((a, b) => rank(a) - rank(b));
  return Promise.all(sorted.map((rail) => priced(rates, { amount, asset: currency }, rail)));
}

async function priced(
  rates: RailChoice["rates"],
  money: { readonly amount: bigint; readonly asset: string },
  rail: RailFacts,
): Promise<RailOffer> {
  try {
    const { due, rate } = await priceRails({ rates }, money, [rail]);
    return { rail, ok: true, due: due.amount, rate };
  } catch (error) {
    if (error instanceof Fault && isProblem(error.code)) return { rail, ok: false, problem: error.code };
    throw error;
  }
}

function isProblem(code: string): code is RailProblem {
  return code === "rate_unavailable" || code === "amount_too_small" || code === "amount_too_large";
}
