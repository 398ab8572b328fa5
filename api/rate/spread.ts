import type { Rate, Rates } from "./rates.ts";
import { addBps } from "./scaled.ts";

/** Rates as a merchant sells at them: with its margin, in basis points, where a market is behind a rate, and never on one to
 *  one. Source: merchant-api.md §3.6. */
export function withSpread(rates: Rates, spreadBps: number): Rates {
  if (spreadBps === 0) return rates;
  return {
    async rate(pair) {
      const answer = await rates.rate(pair);
      return answer.ok ? { ok: true, rate: spread(answer.rate, spreadBps) } : answer;
    },
  };
}

/** The same of one rate. */
export function spread(rate: Rate, spreadBps: number): Rate {
  if (spreadBps === 0 || rate.source === "identity" || rate.source === "parity") return rate;
  return { ...rate, scaledRate: addBps(rate.scaledRate, spreadBps), spreadBps };
}
