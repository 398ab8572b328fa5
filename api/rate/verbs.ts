import type { Facilitator } from "#facilitator";
import { assert } from "#kernel/fault";
import type { NewId } from "#kernel/id";
import type { Money } from "#kernel/money";
import type { Tx } from "#store";
import { currencies, findCurrency } from "../http/currency.ts";
import { fault } from "../http/faults.ts";
import { presentCurrency, presentRail, type RateSnapshot } from "./present.ts";
import type { Pair, Rate, Rates } from "./rates.ts";
import { toAtomic } from "./scaled.ts";
import type { Currency, ExecutionPath, Rail, RateSource } from "./schema.ts";
import { rateSnapshot } from "./tables.ts";

export { presentLockedRate, type RateSnapshot } from "./present.ts";
export type { Pair, Rate, Rates } from "./rates.ts";
export { ONE } from "./scaled.ts";
export { spread, withSpread } from "./spread.ts";

/** What pricing needs besides the request. */
export interface Pricing {
  readonly rates: Rates;
  readonly facilitator: Pick<Facilitator, "rails">;
  /** How money may reach us here; through a contract only where one stands. */
  readonly executionPaths: readonly ExecutionPath[];
}

/** The tokens that can be paid with here, in the order of the configuration. */
export function listRails({ facilitator, executionPaths }: Pricing): Rail[] {
  return facilitator.rails().map((rail) => presentRail(rail, executionPaths));
}

/** The units that amounts may be written in. */
export function listCurrencies(): Currency[] {
  return currencies.map(presentCurrency);
}

/** The rate of this moment. Fault: `rate_unavailable`. */
export async function currentRate({ rates }: Pick<Pricing, "rates">, { from, to }: Pair): Promise<Rate> {
  const answer = await rates.rate({ from, to });
  if (!answer.ok) throw fault("rate_unavailable", { from, to, reason: answer.reason });
  return answer.rate;
}

/** An amount in the smallest piece of the rate's target, rounded up: the merchant is never short. Bug: an amount that is
 *  not of the rate's unit. */
export function convert(
  { amount, asset }: Money,
  { from, to, scaledRate }: Pick<Rate, "from" | "to" | "scaledRate">,
): Money {
  const [given, target] = [findCurrency(from), findCurrency(to)];
  assert(asset === from && given && target, `a rate from ${from} cannot convert ${asset}`);
  const scale = { scaledRate, fromDecimals: given.decimals, toDecimals: target.decimals };
  return { amount: toAtomic(amount, scale), asset: to };
}

export interface Lock {
  readonly merchantId: string;
  readonly rate: Rate;
}

/** Keeps a rate and what it was made of, in the transaction of whoever relies on it. Ask for the rate before that
 *  transaction: sources are outside of the house. */
export async function lockRate(
  tx: Tx,
  { newId, now }: { readonly newId: NewId; readonly now: () => Date },
  { merchantId, rate }: Lock,
): Promise<RateSnapshot> {
  const row = lockOf({ merchantId, rate }, { id: newId("rate"), lockedAt: now() });
  await tx.insert(rateSnapshot).values(row);
  return row;
}

/** The row of a lock. Bug: a rate that prices nothing. */
export function lockOf(
  { merchantId, rate }: Lock,
  { id, lockedAt }: Pick<RateSnapshot, "id" | "lockedAt">,
): RateSnapshot {
  const { from, to, scaledRate, source, spreadBps = 0, inputs } = rate;
  assert(source !== "none", "a rate from nowhere cannot be locked");
  return {
    merchantId,
    id,
    fromAsset: from,
    toAsset: to,
    scaledRate,
    source,
    spreadBps,
    inputs,
    lockedAt,
  };
}

const MINUTE = 60;

/** How long a lock of this kind holds: the default, and the bounds for a merchant who asks for more or less. Seconds.
 *  Source: merchant-api.md §3.6. */
export function lockWindow(source: RateSource): {
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
} {
  return isExact(source)
    ? { seconds: 30 * MINUTE, least: 5 * MINUTE, most: 24 * 60 * MINUTE }
    : { seconds: 15 * MINUTE, least: 5 * MINUTE, most: 60 * MINUTE };
}

/** One to one: no market moves it. */
function isExact(source: RateSource): boolean {
  return source === "identity" || source === "parity";
}
