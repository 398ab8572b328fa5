import { z } from "zod";
import { pegs, type Stablecoin } from "#kernel/asset";
import { errorFields, type Log } from "#kernel/log";
import { disagree, ONE, parseScaled } from "../scaled.ts";
import { type GetDeps, type Got, get, parseJson, type Source } from "../source.ts";

const URL = "https://api.kraken.com/0/public/Ticker";
/** Bid and ask further apart than this are no market. */
const MAX_SPREAD_BPS = 150;

/** A pair by the name it is asked for, and by the one the answer may use. */
interface Pair {
  readonly code: string;
  readonly asked: string;
  readonly answered: string;
  readonly isPerDollar: boolean;
}
const fiat: readonly Pair[] = [
  { code: "EUR", asked: "EURUSD", answered: "ZEURZUSD", isPerDollar: false },
  { code: "GBP", asked: "GBPUSD", answered: "ZGBPZUSD", isPerDollar: false },
  { code: "AUD", asked: "AUDUSD", answered: "ZAUDZUSD", isPerDollar: false },
  { code: "CAD", asked: "USDCAD", answered: "ZUSDZCAD", isPerDollar: true },
  { code: "JPY", asked: "USDJPY", answered: "ZUSDZJPY", isPerDollar: true },
  { code: "CHF", asked: "USDCHF", answered: "ZUSDZCHF", isPerDollar: true },
];
/** Each against the currency it should be worth one of. */
const coins = (Object.keys(pegs) as Stablecoin[]).map((coin) => ({ coin, unit: pegs[coin] }));

const Side = z.tuple([z.string()], z.unknown());
const Answer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ a: Side, b: Side })).optional(),
});
type Tickers = NonNullable<z.infer<typeof Answer>["result"]>;

/** Currencies with a market of their own there, and what each stablecoin trades at. A coin is asked for by itself: one
 *  pair that is not known there any more would otherwise take the whole answer with it. */
export function kraken(
  deps: GetDeps & { readonly log: Log },
  { url = URL }: { readonly url?: string } = {},
): Source {
  const ask = async (pairs: readonly string[], signal: AbortSignal) =>
    readTickers(await get(deps, `${url}?pair=${pairs.join(",")}`, signal));
  return {
    name: "kraken",
    async read(signal) {
      const [fiatTickers, ...coinTickers] = await Promise.all([
        ask(
          fiat.map(({ asked }) => asked),
          signal,
        ),
        ...coins.map(({ coin, unit }) =>
          ask([coin + unit], signal).catch((error: unknown) => {
            deps.log.warn({ source: "kraken", coin, ...errorFields(error) }, "a coin's market was not read");
            return null;
          }),
        ),
      ]);
      const dollars = fiatPrices(fiatTickers.tickers);
      coins.forEach(({ coin, unit }, i) => {
        const price = midOf(coinTickers[i]?.tickers[coin + unit]);
        const dollarsPerUnit = dollars.get(unit);
        if (price !== null && dollarsPerUnit !== undefined) dollars.set(coin, (price * dollarsPerUnit) / ONE);
      });
      const times = [fiatTickers, ...coinTickers].flatMap((each) => (each ? [each.at.getTime()] : []));
      return { source: "kraken", at: new Date(Math.min(...times)), dollars };
    },
  };
}

function readTickers({ text, at }: Got): { readonly tickers: Tickers; readonly at: Date } {
  const answer = Answer.safeParse(parseJson(text, "kraken"));
  if (!answer.success) throw new Error("kraken answered something else than tickers");
  const { error, result } = answer.data;
  if (error.length > 0 || !result) throw new Error(`kraken refused: ${error.join(", ").slice(0, 100)}`);
  return { tickers: result, at };
}

function fiatPrices(tickers: Tickers): Map<string, bigint> {
  const dollars = new Map([["USD", ONE]]);
  for (const { code, asked, answered, isPerDollar } of fiat) {
    const price = midOf(tickers[asked] ?? tickers[answered]);
    if (price !== null) dollars.set(code, isPerDollar ? (ONE * ONE) / price : price);
  }
  return dollars;
}

/** Halfway between the best offers. The last trade may be hours old; offers are what somebody stands by now. */
function midOf(ticker: Tickers[string] | undefined): bigint | null {
  const ask = parseScaled(ticker?.a[0] ?? "");
  const bid = parseScaled(ticker?.b[0] ?? "");
  if (ask === null || bid === null || bid > ask || disagree([bid, ask], MAX_SPREAD_BPS)) return null;
  return (ask + bid) / 2n;
}
