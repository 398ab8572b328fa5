import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { liveRates, type Pair } from "../../../api/rate/rates.ts";
import { divide, ONE, parseScaled } from "../../../api/rate/scaled.ts";
import {
  type Behaviour,
  coinbaseBody,
  ecbBody,
  fetch,
  krakenBody,
  recordingLog,
  startExchanges,
  testClock,
} from "./exchanges.ts";

const clock = testClock();
let exchanges: Awaited<ReturnType<typeof startExchanges>>;
beforeAll(async () => {
  exchanges = await startExchanges(clock.now);
});
afterAll(() => exchanges.stop());
beforeEach(() => {
  Object.assign(clock, { elapsedMs: 0, haste: 1 });
  Object.assign(exchanges.says, { coinbase: null, kraken: null, ecb: null });
  Object.assign(exchanges.asked, { coinbase: 0, kraken: 0, ecb: 0 });
  for (const pair of Object.keys(exchanges.books)) delete exchanges.books[pair];
  for (const pair of Object.keys(exchanges.ages)) delete exchanges.ages[pair];
});

function opened() {
  const log = recordingLog();
  const rates = liveRates({ fetch, clock, log, urls: exchanges.urls });
  return {
    log,
    rate: (pair: Pair) => rates.rate(pair),
    async source(from: string, to: string) {
      const answer = await rates.rate({ from, to });
      return answer.ok ? answer.rate.source : answer.reason;
    },
    async scaled(from: string, to: string) {
      const answer = await rates.rate({ from, to });
      return answer.ok ? answer.rate.scaledRate : null;
    },
  };
}

const scaled = (text: string) => parseScaled(text) ?? 0n;
const refused: Behaviour = { status: 503 };
/** Only where somebody keeps silent may waits pass faster: who answers has the time that a busy machine needs. */
function says(exchange: keyof typeof exchanges.says, behaviour: Behaviour): void {
  exchanges.says[exchange] = behaviour;
  clock.haste = behaviour === "silence" ? 5 : 1;
}
/** Less than a millionth of a millionth apart: inverse prices are rounded on the way. */
const isNear = (value: bigint | null, expected: bigint) =>
  value !== null && (value > expected ? value - expected : expected - value) * 10n ** 12n < expected;

describe("both exchanges answering", () => {
  it("price what both trade by the median, with both prices kept", async () => {
    const answer = await opened().rate({ from: "EUR", to: "USDC" });
    const coinbase = divide(ONE, scaled("0.857632933105"));
    const kraken = scaled("1.16595");
    expect(answer).toMatchObject({
      ok: true,
      rate: {
        source: "median",
        inputs: [
          { source: "coinbase", pair: "EUR/USD" },
          { source: "kraken", pair: "EUR/USD", scaled: kraken.toString(), at: "2026-08-11T09:30:00.000Z" },
          { source: "kraken", pair: "USDC/USD", scaled: scaled("0.99995").toString() },
        ],
      },
    });
    expect(isNear(answer.ok ? answer.rate.scaledRate : null, (coinbase + kraken) / 2n)).toBe(true);
  });

  it.each(["EUR", "GBP", "AUD", "CAD", "JPY", "CHF"])(
    "agree on %s, which Kraken quotes in dollars or as units for one",
    async (from) => {
      expect(await opened().source(from, "USDC")).toBe("median");
    },
  );

  it("price by one name what only one trades, in the right direction", async () => {
    const { source, scaled: of } = opened();
    expect(await source("KRW", "USDC")).toBe("coinbase");
    expect(isNear(await of("KRW", "USDC"), divide(ONE, scaled("1388.12345")))).toBe(true);
    expect(isNear(await of("NOK", "EURC"), divide(scaled("0.857632933105"), scaled("10.2250511252")))).toBe(
      true,
    );
  });

  it("are asked once for many questions at once, and again after 30 s", async () => {
    const { source } = opened();
    await Promise.all(["EUR", "GBP", "JPY", "USD"].map((from) => source(from, "USDC")));
    // Kraken: its currencies in one request, and each of three coins.
    expect(exchanges.asked).toEqual({ coinbase: 1, kraken: 4, ecb: 0 });
    clock.elapsedMs = 29_999;
    await source("EUR", "USDC");
    expect(exchanges.asked.coinbase).toBe(1);
    clock.elapsedMs = 30_000;
    await source("EUR", "USDC");
    expect(exchanges.asked).toEqual({ coinbase: 2, kraken: 8, ecb: 0 });
  });
});

describe("one exchange that fails", () => {
  it.each<[string, Behaviour]>([
    ["a 500", { status: 500 }],
    ["a redirect", { status: 302 }],
    ["no answer in time", "silence"],
    ["a line cut", "hang-up"],
    ["an empty body", { body: "" }],
    ["a page in place of JSON", { body: "<html>Just a moment...</html>" }],
    ["JSON of another shape", { body: '{"rates":{"EUR":1.1}}' }],
    ["rates for another currency", { body: coinbaseBody().replace('"currency":"USD"', '"currency":"EUR"') }],
    ["an answer cut in the middle", { body: coinbaseBody().slice(0, 100) }],
    ["numbers that are no prices", { body: coinbaseBody({ EUR: "0", GBP: "1e3", JPY: "-147" }) }],
    [
      "an answer of two minutes ago",
      { body: coinbaseBody(), headers: { date: "Tue, 11 Aug 2026 09:27:59 GMT" } },
    ],
    ["a copy from a cache", { body: coinbaseBody(), headers: { age: "121" } }],
    [
      "an answer from the future",
      { body: coinbaseBody(), headers: { date: "Tue, 11 Aug 2026 09:32:01 GMT" } },
    ],
  ])("Coinbase with %s leaves the other's price", async (_what, behaviour) => {
    says("coinbase", behaviour);
    expect(await opened().source("EUR", "USDC")).toBe("kraken");
  });

  it.each<[string, Behaviour]>([
    ["a 500", { status: 500 }],
    ["an error of its own", { body: '{"error":["EService:Unavailable"]}' }],
    [
      "an error beside its tickers",
      { body: krakenBody(["EURUSD"]).replace("[]", '["EService:Market in cancel_only mode"]') },
    ],
    ["no answer in time", "silence"],
    ["garbage", { body: "%%%" }],
    ["tickers of another shape", { body: '{"error":[],"result":{"ZEURZUSD":{"a":"1.1","b":"1.1"}}}' }],
    ["an old answer", { body: krakenBody(["EURUSD"]), headers: { age: "300" } }],
  ])("Kraken with %s leaves the other's price", async (_what, behaviour) => {
    says("kraken", behaviour);
    expect(await opened().source("EUR", "USDC")).toBe("coinbase");
  });

  it("is said in the log by name and status, without what it answered", async () => {
    exchanges.says.coinbase = { status: 418 };
    const { log, source } = opened();
    await source("EUR", "USDC");
    expect(log.lines).toEqual([expect.stringMatching(/warn a rate source gave no reading .*coinbase.*418/)]);
    expect(log.lines.join()).not.toContain("oh no");
  });

  it("is left alone for 10 s, then asked again", async () => {
    exchanges.says.coinbase = refused;
    const { source } = opened();
    await source("EUR", "USDC");
    clock.elapsedMs = 9_999;
    await source("EUR", "USDC");
    expect(exchanges.asked.coinbase).toBe(1);
    clock.elapsedMs = 10_000;
    exchanges.says.coinbase = null;
    expect(await source("EUR", "USDC")).toBe("median");
  });

  it("keeps its last price for 120 s and no longer", async () => {
    exchanges.says.kraken = refused;
    const { source } = opened();
    expect(await source("EUR", "USDC")).toBe("coinbase");
    exchanges.says.coinbase = refused;
    exchanges.says.ecb = refused;
    clock.elapsedMs = 120_000;
    expect(await source("EUR", "USDC")).toBe("coinbase");
    clock.elapsedMs = 130_001;
    expect(await source("EUR", "USDC")).toBe("no_fresh_rate");
  });
});

describe("exchanges that contradict each other", () => {
  it("price nothing", async () => {
    exchanges.says.coinbase = { body: coinbaseBody({ EUR: "0.80" }) };
    const { source } = opened();
    expect(await source("EUR", "USDC")).toBe("sources_disagree");
    expect(await source("GBP", "USDC")).toBe("median");
  });
});

describe("a book on Kraken", () => {
  it.each([
    ["with offers far apart", ["1.10", "1.20"]],
    ["with offers that cross", ["1.17", "1.16"]],
  ] as const)("%s is no market", async (_what, book) => {
    exchanges.books.EURUSD = book;
    expect(await opened().source("EUR", "USDC")).toBe("coinbase");
  });

  it("shows a coin off its peg: that coin is unavailable, the others are not", async () => {
    exchanges.books.USDCUSD = ["0.9880", "0.9890"];
    const { source } = opened();
    expect(await source("USD", "USDC")).toBe("depegged");
    expect(await source("USD", "USDG")).toBe("parity");
  });

  it("that is not there any more takes nothing else with it", async () => {
    exchanges.books.USDGUSD = null;
    const { source, log } = opened();
    expect(await source("EUR", "USDC")).toBe("median");
    expect(await source("USD", "USDG")).toBe("parity");
    expect(log.lines).toEqual([
      expect.stringMatching(/a coin's market was not read .*USDG.*Unknown asset pair/),
    ]);
  });

  it("is as old as its oldest part", async () => {
    exchanges.ages.USDCUSD = "119";
    expect(await opened().rate({ from: "USD", to: "USDC" })).toMatchObject({
      rate: { inputs: [{ pair: "USDC/USD", at: "2026-08-11T09:28:01.000Z" }] },
    });
  });

  it("and Coinbase both watch EURC", async () => {
    exchanges.books.EURCEUR = ["0.9700", "0.9710"];
    exchanges.says.coinbase = { body: coinbaseBody({ EURC: "0.8840" }) };
    const { source } = opened();
    expect(await source("EUR", "EURC")).toBe("depegged");
  });
});

describe("nobody live", () => {
  beforeEach(() => {
    exchanges.says.coinbase = refused;
    exchanges.says.kraken = refused;
  });

  it("the ECB's rate of the last working day stands in, with half a percent more", async () => {
    const { rate } = opened();
    const answer = await rate({ from: "EUR", to: "USDC" });
    expect(answer).toEqual({
      ok: true,
      rate: {
        from: "EUR",
        to: "USDC",
        scaledRate: scaled("1.158") + scaled("1.158") / 200n,
        source: "ecb",
        inputs: [
          {
            source: "ecb",
            pair: "EUR/USD",
            scaled: scaled("1.158").toString(),
            at: "2026-08-10T13:15:00.000Z",
          },
        ],
      },
    });
    const forint = await rate({ from: "HUF", to: "EURC" });
    const expected = (divide(ONE, scaled("394.40")) * 1_005n) / 1_000n;
    expect(isNear(forint.ok ? forint.rate.scaledRate : null, expected)).toBe(true);
  });

  it("it is asked once an hour", async () => {
    const { source } = opened();
    await source("EUR", "USDC");
    clock.elapsedMs = 3_599_999;
    await source("EUR", "USDC");
    expect(exchanges.asked.ecb).toBe(1);
    clock.elapsedMs = 3_600_000;
    await source("EUR", "USDC");
    expect(exchanges.asked.ecb).toBe(2);
  });

  it("it is asked again a minute after it failed", async () => {
    exchanges.says.ecb = refused;
    const { source } = opened();
    expect(await source("EUR", "USDC")).toBe("no_fresh_rate");
    exchanges.says.ecb = null;
    clock.elapsedMs = 59_999;
    expect(await source("EUR", "USDC")).toBe("no_fresh_rate");
    clock.elapsedMs = 60_000;
    expect(await source("EUR", "USDC")).toBe("ecb");
  });

  it.each<[string, Behaviour]>([
    ["a rate of five days ago", { body: ecbBody("2026-08-06") }],
    ["a day that is none", { body: ecbBody("2026-13-40") }],
    ["a document without a day", { body: ecbBody().replace(/time='[^']*'/, "") }],
    ["a document without the dollar", { body: ecbBody().replace("'USD'", "'XXX'") }],
    ["a page", { body: "<html></html>" }],
    ["a 404", { status: 404 }],
    ["no answer in time", "silence"],
  ])("the ECB with %s prices nothing", async (_what, behaviour) => {
    says("ecb", behaviour);
    const { source } = opened();
    expect(await source("EUR", "USDC")).toBe("no_fresh_rate");
    expect(await source("KRW", "USDC")).toBe("no_fresh_rate");
  });

  it("what is one to one is still that", async () => {
    exchanges.says.ecb = refused;
    const { source } = opened();
    expect(await source("USD", "USDC")).toBe("parity");
    expect(await source("AED", "USDC")).toBe("peg");
    expect(await source("USDC", "USDC")).toBe("identity");
  });
});
