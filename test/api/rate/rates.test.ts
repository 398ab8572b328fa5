import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { currencies } from "../../../api/http/currency.ts";
import { fixedRates, type Pair, type Rate, ratesFrom } from "../../../api/rate/rates.ts";
import { ONE, parseScaled } from "../../../api/rate/scaled.ts";
import type { Reading, SourceName } from "../../../api/rate/source.ts";
import { recordingLog, start, testClock } from "./exchanges.ts";

function reading(source: SourceName, dollars: Readonly<Record<string, string>>, ageMs = 0): Reading {
  const prices = Object.entries({ USD: "1", ...dollars }).map(
    ([code, price]) => [code, parseScaled(price) ?? 0n] as const,
  );
  return { source, at: new Date(start.getTime() - ageMs), dollars: new Map(prices) };
}

function market(live: readonly (Reading | null)[], daily: Reading | null = null) {
  const clock = testClock();
  const log = recordingLog();
  const now = { live: [...live], daily };
  const rates = ratesFrom(
    { live: live.map((_, i) => async () => now.live[i] ?? null), daily: async () => now.daily },
    { clock, log },
  );
  const rate = async (pair: Pair): Promise<Rate> => {
    const answer = await rates.rate(pair);
    if (!answer.ok) throw new Error(answer.reason);
    return answer.rate;
  };
  const refusal = async (pair: Pair) => {
    const answer = await rates.rate(pair);
    return answer.ok ? answer.rate.source : answer.reason;
  };
  return { now, clock, log, rate, refusal };
}

const euroInDollars = { from: "EUR", to: "USDC" };
const scaled = (text: string) => parseScaled(text) ?? 0n;

describe("without a market", () => {
  it.each(["USD", "EUR", "AED", "USDC", "EURC"])(
    "%s in itself is 1, by identity, with no source at all",
    async (code) => {
      const { rate } = market([]);
      expect(await rate({ from: code, to: code })).toEqual({
        from: code,
        to: code,
        scaledRate: ONE,
        source: "identity",
        inputs: [],
      });
    },
  );

  it.each([
    ["USD", "USDC"],
    ["USD", "USDG"],
    ["EUR", "EURC"],
    ["USDC", "USD"],
    ["USDC", "USDG"],
  ])("%s in %s is exactly 1, by parity", async (from, to) => {
    const { rate } = market([null]);
    expect(await rate({ from, to })).toMatchObject({ scaledRate: ONE, source: "parity" });
  });

  it("a currency pegged to the dollar has its fixed part of it, rounded up", async () => {
    const { rate } = market([null]);
    expect(await rate({ from: "AED", to: "USDC" })).toMatchObject({
      scaledRate: (ONE * 10_000n) / 36_725n + 1n,
      source: "peg",
    });
    expect(await rate({ from: "SAR", to: "USDG" })).toMatchObject({
      scaledRate: 266_666_666_666_666_667n,
      source: "peg",
    });
    expect(await rate({ from: "USD", to: "SAR" })).toMatchObject({
      scaledRate: scaled("3.75"),
      source: "peg",
    });
  });

  it.each(["DOGE", "", "usd", "__proto__", "constructor"])("%j is no unit", async (code) => {
    const { refusal } = market([reading("coinbase", {})]);
    expect(await refusal({ from: code, to: "USDC" })).toBe("unknown_unit");
    expect(await refusal({ from: "USD", to: code })).toBe("unknown_unit");
  });
});

describe("live sources", () => {
  it("one alone goes by its name", async () => {
    const { rate } = market([reading("coinbase", { EUR: "1.1" }), null]);
    expect(await rate(euroInDollars)).toEqual({
      ...euroInDollars,
      scaledRate: scaled("1.1"),
      source: "coinbase",
      inputs: [
        { source: "coinbase", pair: "EUR/USD", scaled: scaled("1.1").toString(), at: start.toISOString() },
      ],
    });
  });

  it("two or more are a median, with every price kept", async () => {
    const { rate } = market([
      reading("coinbase", { EUR: "1.100" }),
      reading("kraken", { EUR: "1.102" }),
      reading("fixed", { EUR: "1.101" }),
    ]);
    const found = await rate(euroInDollars);
    expect(found).toMatchObject({ scaledRate: scaled("1.101"), source: "median" });
    expect(found.inputs.map(({ source }) => source)).toEqual(["coinbase", "kraken", "fixed"]);
  });

  it("goes the other way, and across", async () => {
    const { rate } = market([reading("kraken", { EUR: "1.25", GBP: "1.5" })]);
    expect(await rate({ from: "USD", to: "EURC" })).toMatchObject({ scaledRate: scaled("0.8") });
    expect(await rate({ from: "GBP", to: "EURC" })).toMatchObject({ scaledRate: scaled("1.2") });
    expect(await rate({ from: "USDC", to: "EURC" })).toMatchObject({
      scaledRate: scaled("0.8"),
      source: "kraken",
    });
    expect((await rate({ from: "AED", to: "EURC" })).scaledRate).toBe(
      (scaled("0.8") * 10_000n) / 36_725n + 1n,
    );
  });

  it("that lie more than 1.5 % apart price nothing, and the daily rate does not step in", async () => {
    const daily = reading("ecb", { EUR: "1.1" });
    const far = market([reading("coinbase", { EUR: "1.1" }), reading("kraken", { EUR: "1.11651" })], daily);
    expect(await far.refusal(euroInDollars)).toBe("sources_disagree");
    const near = market([reading("coinbase", { EUR: "1.1" }), reading("kraken", { EUR: "1.1165" })], daily);
    expect(await near.refusal(euroInDollars)).toBe("median");
  });

  it("count for 120 s, and not when they come from the future", async () => {
    const at = (ageMs: number) => market([reading("coinbase", { EUR: "1.1" }, ageMs)]).refusal(euroInDollars);
    expect(await at(120_000)).toBe("coinbase");
    expect(await at(120_001)).toBe("no_fresh_rate");
    expect(await at(-120_001)).toBe("no_fresh_rate");
    // a clock of theirs that is a little fast costs nobody the price
    expect(await at(-120_000)).toBe("coinbase");
  });

  it("that say a currency is worth nothing have no price in it", async () => {
    const { refusal } = market([reading("coinbase", { EUR: "0" })]);
    expect(await refusal({ from: "USD", to: "EURC" })).toBe("no_fresh_rate");
  });

  it("grow old while they are kept", async () => {
    const { clock, refusal } = market([reading("coinbase", { EUR: "1.1" })]);
    expect(await refusal(euroInDollars)).toBe("coinbase");
    clock.elapsedMs = 120_001;
    expect(await refusal(euroInDollars)).toBe("no_fresh_rate");
  });
});

describe("the daily rate", () => {
  it("stands in with half a percent more, when nobody live has the currency", async () => {
    const { rate } = market([reading("coinbase", {}), null], reading("ecb", { EUR: "1.1" }, 24 * 3_600_000));
    expect(await rate(euroInDollars)).toMatchObject({ scaledRate: scaled("1.1055"), source: "ecb" });
  });

  it("counts for 96 h", async () => {
    const at = (hours: number, ms = 0) =>
      market([null], reading("ecb", { EUR: "1.1" }, hours * 3_600_000 + ms)).refusal(euroInDollars);
    expect(await at(96)).toBe("ecb");
    expect(await at(96, 1)).toBe("no_fresh_rate");
  });

  it("is not asked for while a live source answers", async () => {
    let asked = 0;
    const rates = ratesFrom(
      {
        live: [async () => reading("coinbase", { EUR: "1.1" })],
        daily: async () => {
          asked += 1;
          return null;
        },
      },
      { clock: testClock(), log: recordingLog() },
    );
    await rates.rate(euroInDollars);
    expect(asked).toBe(0);
  });
});

describe("a stablecoin off its peg", () => {
  it.each([
    ["0.99", "parity"],
    ["1.01", "parity"],
    ["0.98999", "depegged"],
    ["1.01001", "depegged"],
  ])("at %s dollars: %s", async (price, expected) => {
    const { refusal } = market([reading("kraken", { USDC: price })]);
    expect(await refusal({ from: "USD", to: "USDC" })).toBe(expected);
  });

  it("is judged by the median, and lost when sources contradict each other", async () => {
    const pair = { from: "USD", to: "USDC" };
    const held = market([
      reading("kraken", { USDC: "0.98999" }),
      reading("coinbase", { USDC: "1" }),
      reading("fixed", { USDC: "1" }),
    ]);
    expect(await held.refusal(pair)).toBe("parity");
    const torn = market([reading("kraken", { USDC: "0.992" }), reading("coinbase", { USDC: "1.0075" })]);
    expect(await torn.refusal(pair)).toBe("depegged");
  });

  it("is judged against its own currency, and takes no other coin with it", async () => {
    const { refusal } = market([reading("kraken", { EUR: "1.1", EURC: "1.1", USDG: "1", USDC: "0.9" })]);
    expect(await refusal({ from: "EUR", to: "EURC" })).toBe("parity");
    expect(await refusal({ from: "USD", to: "USDG" })).toBe("parity");
    expect(await refusal({ from: "EUR", to: "USDC" })).toBe("depegged");
    expect(await refusal({ from: "USDC", to: "EURC" })).toBe("depegged");
    expect(await refusal({ from: "USDC", to: "USDC" })).toBe("identity");
  });

  it("stays lost through silence and old news, until a source sees it whole; both turns are logged", async () => {
    const { now, log, refusal } = market([reading("kraken", { USDC: "0.9" })]);
    const pair = { from: "USD", to: "USDC" };
    expect(await refusal(pair)).toBe("depegged");
    now.live = [null];
    expect(await refusal(pair)).toBe("depegged");
    now.live = [reading("kraken", { USDC: "1" }, 121_000)];
    expect(await refusal(pair)).toBe("depegged");
    now.live = [reading("kraken", { USDC: "1" })];
    expect(await refusal(pair)).toBe("parity");
    expect(log.lines).toHaveLength(2);
  });
});

describe("the fixed rates of a sandbox", () => {
  const rates = fixedRates({ clock: testClock(), log: recordingLog() });
  const codes = currencies.map(({ code }) => code);

  it.each(codes)("price %s in every stablecoin, the same each time", async (from) => {
    for (const to of ["USDC", "EURC", "USDG"]) {
      const answer = await rates.rate({ from, to });
      expect(answer).toMatchObject({ ok: true });
      expect(await rates.rate({ from, to })).toEqual(answer);
    }
  });

  it("say fixed where they made a price up", async () => {
    const sourceOf = async (from: string, to: string) => {
      const answer = await rates.rate({ from, to });
      return answer.ok && answer.rate.source;
    };
    expect(await sourceOf("GBP", "USDC")).toBe("fixed");
    expect(await sourceOf("USD", "USDC")).toBe("parity");
    expect(await sourceOf("SAR", "USDC")).toBe("peg");
    expect(await sourceOf("SAR", "EURC")).toBe("fixed");
  });

  it("there and back is never less than 1, and hardly more", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...codes), fc.constantFrom(...codes), async (from, to) => {
        const [there, back] = await Promise.all([
          rates.rate({ from, to }),
          rates.rate({ from: to, to: from }),
        ]);
        if (!there.ok || !back.ok) throw new Error("unpriced");
        const product = there.rate.scaledRate * back.rate.scaledRate;
        expect(product >= ONE * ONE).toBe(true);
        expect(product <= ONE * ONE + (ONE * ONE) / 10n ** 9n).toBe(true);
      }),
    );
  });
});
