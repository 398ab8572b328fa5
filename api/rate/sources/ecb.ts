import { ONE, parseScaled } from "../scaled.ts";
import { type GetDeps, get, type Source } from "../source.ts";

const URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml";
/** The rates of a day are those of 14:15 in Frankfurt; the hour of summer time does not matter here. */
const FIXING = "T13:15:00.000Z";
const DAY = /<Cube\s+time=["'](\d{4}-\d{2}-\d{2})["']/;
const RATE = /<Cube\s+currency=["']([A-Z]{3})["']\s+rate=["']([\d.]+)["']/g;

/** Reference rates of the last working day, as units for a euro. Read by pattern: a document of fixed form needs no XML
 *  parser, and none that resolves entities comes near foreign text. */
export function ecb(deps: GetDeps, { url = URL }: { readonly url?: string } = {}): Source {
  return {
    name: "ecb",
    async read(signal) {
      const { text } = await get(deps, url, signal);
      const at = new Date(`${DAY.exec(text)?.[1]}${FIXING}`);
      const perEuro = new Map(
        [...text.matchAll(RATE)].flatMap(([, code = "", rate = ""]) => {
          const scaled = parseScaled(rate);
          return scaled === null ? [] : [[code, scaled] as const];
        }),
      );
      const dollarsPerEuro = perEuro.get("USD");
      if (Number.isNaN(at.getTime()) || dollarsPerEuro === undefined)
        throw new Error("the ecb answered something else than its reference rates");
      const dollars = new Map([...perEuro].map(([code, rate]) => [code, (dollarsPerEuro * ONE) / rate]));
      return { source: "ecb", at, dollars: dollars.set("EUR", dollarsPerEuro).set("USD", ONE) };
    },
  };
}
