import { z } from "zod";
import { currencies } from "../../http/currency.ts";
import { ONE, parseScaled } from "../scaled.ts";
import { type GetDeps, get, parseJson, type Source } from "../source.ts";

const URL = "https://api.coinbase.com/v2/exchange-rates?currency=USD";
const Answer = z.object({
  data: z.object({ currency: z.literal("USD"), rates: z.record(z.string(), z.string()) }),
});

/** USDC is left out: Coinbase changes it one to one by promise, so its 1 says nothing about a lost peg. */
const wanted = [...currencies.filter(({ kind }) => kind === "fiat").map(({ code }) => code), "EURC"];

/** Every currency in one answer, as units for a dollar. */
export function coinbase(deps: GetDeps, { url = URL }: { readonly url?: string } = {}): Source {
  return {
    name: "coinbase",
    async read(signal) {
      const { text, at } = await get(deps, url, signal);
      const answer = Answer.safeParse(parseJson(text, "coinbase"));
      if (!answer.success) throw new Error("coinbase answered something else than rates");
      const { rates } = answer.data.data;
      const dollars = new Map(
        wanted.flatMap((code) => {
          const perDollar = Object.hasOwn(rates, code) ? parseScaled(rates[code] ?? "") : null;
          return perDollar === null ? [] : [[code, (ONE * ONE) / perDollar] as const];
        }),
      );
      return { source: "coinbase", at, dollars: dollars.set("USD", ONE) };
    },
  };
}
