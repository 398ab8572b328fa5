import { isStablecoin, pegs, type Stablecoin } from "#kernel/asset";
import { findCurrency } from "../http/currency.ts";
import { addBps, disagree, divide, median, ONE } from "./scaled.ts";
import type { RateInput, RateSource } from "./schema.ts";
import type { Reading } from "./source.ts";

const LIVE_MS = 120_000;
/** Weekends and a holiday beside one. */
const DAILY_MS = 96 * 3_600_000;
/** A reading from the future is a wrong clock, ours or theirs. */
const AHEAD_MS = 120_000;
const DISAGREE_BPS = 150;
const DEPEG_BPS = 100;
/** For a rate that may be a day behind the market. */
const DAILY_MARGIN_BPS = 50;

/** Currencies that their central banks hold at a fixed price in dollars: units for a dollar. */
const dollarPegs: Readonly<Record<string, { readonly units: bigint; readonly per: bigint }>> = {
  AED: { units: 36_725n, per: 10_000n },
  SAR: { units: 375n, per: 100n },
};

/** A unit as the market knows it: `factor` of `currency` for one of it. */
interface Base {
  readonly currency: string;
  readonly factor: { readonly numerator: bigint; readonly denominator: bigint };
  readonly isPegged: boolean;
}
const unity = { numerator: 1n, denominator: 1n } as const;

/** What a unit is converted through: a stablecoin is its currency, a pegged currency a fixed part of a dollar. */
export function baseOf(code: string): Base | null {
  if (isStablecoin(code)) return { currency: pegs[code], factor: unity, isPegged: false };
  const peg = Object.hasOwn(dollarPegs, code) ? dollarPegs[code] : undefined;
  if (peg) return { currency: "USD", factor: { numerator: peg.per, denominator: peg.units }, isPegged: true };
  return findCurrency(code) ? { currency: code, factor: unity, isPegged: false } : null;
}

/** A rate without its names. */
export interface Found {
  readonly scaledRate: bigint;
  readonly source: RateSource;
  readonly inputs: readonly RateInput[];
}

/** One to one, or by a fixed peg; null where a market has to be asked. */
export function withoutMarket(from: Base, to: Base): Found | null {
  if (from.currency !== to.currency) return null;
  const source = from.isPegged || to.isPegged ? "peg" : "parity";
  return { scaledRate: times(ONE, from, to), source, inputs: [] };
}

export type NoRate = "sources_disagree" | "no_fresh_rate";

/** The median of what live sources say; one source goes by its own name. Only readings of the last 120 s count.
 *  Source: merchant-api.md §3.6. */
export function fromLive(readings: readonly Reading[], now: Date, from: Base, to: Base): Found | NoRate {
  const pair = `${from.currency}/${to.currency}`;
  const inputs = readings
    .filter((reading) => isFresh(reading, now, LIVE_MS))
    .flatMap((reading) => quoted(reading, { pair, of: from.currency, in: to.currency }));
  const [first, second] = inputs;
  if (!first) return "no_fresh_rate";
  const values = inputs.map(({ scaled }) => scaled);
  if (disagree(values, DISAGREE_BPS)) return "sources_disagree";
  const source = second ? "median" : first.source;
  return { scaledRate: times(median(values), from, to), source, inputs: inputs.map(written) };
}

/** Yesterday's reference rate with a margin, for when nobody live can be had. */
export function fromDaily(reading: Reading | null, now: Date, from: Base, to: Base): Found | NoRate {
  if (!reading || !isFresh(reading, now, DAILY_MS)) return "no_fresh_rate";
  const pair = `${from.currency}/${to.currency}`;
  const [input] = quoted(reading, { pair, of: from.currency, in: to.currency });
  if (!input) return "no_fresh_rate";
  const scaledRate = addBps(times(input.scaled, from, to), DAILY_MARGIN_BPS);
  return { scaledRate, source: reading.source, inputs: [written(input)] };
}

export interface PegCheck {
  /** Unknown when no source quotes the coin right now. */
  readonly state: "held" | "lost" | "unknown";
  readonly inputs: readonly RateInput[];
}

/** Whether a stablecoin trades within 1 % of what it should be worth. Sources that contradict each other count as no. */
export function pegOf(readings: readonly Reading[], now: Date, coin: Stablecoin): PegCheck {
  const pair = `${coin}/${pegs[coin]}`;
  const inputs = readings
    .filter((reading) => isFresh(reading, now, LIVE_MS))
    .flatMap((reading) => quoted(reading, { pair, of: coin, in: pegs[coin] }));
  if (inputs.length === 0) return { state: "unknown", inputs: [] };
  const values = inputs.map(({ scaled }) => scaled);
  const price = median(values);
  const off = (price > ONE ? price - ONE : ONE - price) * 10_000n > ONE * BigInt(DEPEG_BPS);
  const state = off || disagree(values, DISAGREE_BPS) ? "lost" : "held";
  return { state, inputs: inputs.map(written) };
}

type Quoted = Omit<RateInput, "scaled"> & { readonly scaled: bigint };

function quoted(
  { source, at, dollars }: Reading,
  { pair, of, in: unit }: { readonly pair: string; readonly of: string; readonly in: string },
): readonly Quoted[] {
  const above = dollars.get(of);
  const below = dollars.get(unit);
  if (above === undefined || below === undefined || below === 0n) return [];
  return [{ source, pair, at: at.toISOString(), scaled: divide(above, below) }];
}

function written({ scaled, ...rest }: Quoted): RateInput {
  return { ...rest, scaled: scaled.toString() };
}

function isFresh({ at }: Reading, now: Date, maxAgeMs: number): boolean {
  const age = now.getTime() - at.getTime();
  return age <= maxAgeMs && age >= -AHEAD_MS;
}

/** The rate between two currencies as one between the units that stand on them, rounded up. */
function times(rate: bigint, { factor: from }: Base, { factor: to }: Base): bigint {
  const numerator = rate * from.numerator * to.denominator;
  const denominator = from.denominator * to.numerator;
  return (numerator + denominator - 1n) / denominator;
}
