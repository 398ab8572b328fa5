import { isStablecoin, type Stablecoin } from "#kernel/asset";
import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";
import { feed, type Patience } from "./feed.ts";
import { baseOf, type Found, fromDaily, fromLive, type NoRate, pegOf, withoutMarket } from "./market.ts";
import { ONE } from "./scaled.ts";
import type { RateInput, RateSource } from "./schema.ts";
import type { Fetch, Reading, Source } from "./source.ts";
import { coinbase } from "./sources/coinbase.ts";
import { ecb } from "./sources/ecb.ts";
import { fixed } from "./sources/fixed.ts";
import { kraken } from "./sources/kraken.ts";

/** What one unit is worth in another, now. */
export interface Rate {
  readonly from: string;
  readonly to: string;
  /** Units of `to` for one of `from`, × 10^18, the spread included. */
  readonly scaledRate: bigint;
  /** The merchant's margin in it, in basis points; none where it is left out. */
  readonly spreadBps?: number;
  readonly source: RateSource;
  /** What it was made of, for the audit. */
  readonly inputs: readonly RateInput[];
}
export type Unpriced = NoRate | "unknown_unit" | "depegged";
export type RateAnswer =
  | { readonly ok: true; readonly rate: Rate }
  | { readonly ok: false; readonly reason: Unpriced };

export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** Rates between currencies and stablecoins. Never rejects: what cannot be priced is told. */
export interface Rates {
  rate(pair: Pair): Promise<RateAnswer>;
}

type Latest = () => Promise<Reading | null>;
export interface Feeds {
  readonly live: readonly Latest[];
  /** Asked only when nobody live has a price. */
  readonly daily: Latest | null;
}

/** A reading that is shown again for 30 s is the quote's cache. */
const livePatience: Patience = { keepMs: 30_000, retryMs: 10_000, timeoutMs: 2_500 };
const dailyPatience: Patience = { keepMs: 3_600_000, retryMs: 60_000, timeoutMs: 4_000 };

/** Of a deployment with a local chain only: the same prices everywhere, and nothing is asked of anybody. */
export function fixedRates({ clock, log }: { readonly clock: Clock; readonly log: Log }): Rates {
  const source = fixed(clock);
  return ratesFrom({ live: [() => source.read(new AbortController().signal)], daily: null }, { clock, log });
}

/** Of a deployment with money in it: exchanges, with the ECB behind them. `urls` are for tests. */
export function liveRates({
  fetch,
  clock,
  log,
  urls = {},
}: {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly urls?: Readonly<Partial<Record<"coinbase" | "kraken" | "ecb", string>>>;
}): Rates {
  const deps = { fetch, log, now: () => clock.now() };
  const at = (url: string | undefined) => (url === undefined ? {} : { url });
  const live = (source: Source) => feed(source, { clock, log }, livePatience);
  return ratesFrom(
    {
      live: [live(coinbase(deps, at(urls.coinbase))), live(kraken(deps, at(urls.kraken)))],
      daily: feed(ecb(deps, at(urls.ecb)), { clock, log }, dailyPatience),
    },
    { clock, log },
  );
}

/** The algorithm over any feeds. Source: merchant-api.md §3.6. */
export function ratesFrom(feeds: Feeds, { clock, log }: { readonly clock: Clock; readonly log: Log }): Rates {
  const lost = new Set<Stablecoin>();

  /** A peg once seen lost stays lost until a source says otherwise: silence is no recovery. */
  function checkPeg(coin: Stablecoin, readings: readonly Reading[]): readonly RateInput[] {
    const { state, inputs } = pegOf(readings, clock.now(), coin);
    const wasLost = lost.has(coin);
    if (state === "lost") lost.add(coin);
    if (state === "held") lost.delete(coin);
    if (wasLost !== lost.has(coin)) log.warn({ coin, state }, "a stablecoin's peg changed");
    return inputs;
  }

  return {
    async rate({ from, to }) {
      const [source, target] = [baseOf(from), baseOf(to)];
      if (!source || !target) return { ok: false, reason: "unknown_unit" };
      if (from === to) return priced({ from, to }, { scaledRate: ONE, source: "identity", inputs: [] });
      const answers = await Promise.all(feeds.live.map((latest) => latest()));
      const readings = answers.filter((reading) => reading !== null);
      const coins = [from, to].filter(isStablecoin);
      const pegInputs = coins.flatMap((coin) => checkPeg(coin, readings));
      if (coins.some((coin) => lost.has(coin))) return { ok: false, reason: "depegged" };
      let found = withoutMarket(source, target) ?? fromLive(readings, clock.now(), source, target);
      if (found === "no_fresh_rate" && feeds.daily)
        found = fromDaily(await feeds.daily(), clock.now(), source, target);
      if (typeof found === "string") return { ok: false, reason: found };
      return priced({ from, to }, { ...found, inputs: [...found.inputs, ...pegInputs] });
    },
  };
}

function priced(pair: Pair, found: Found): RateAnswer {
  return { ok: true, rate: { ...pair, ...found } };
}
