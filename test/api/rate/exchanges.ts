/** Coinbase, Kraken and the ECB as one HTTP server of the test: answers in the shape they were recorded in. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "#kernel/log";
import { systemClock } from "#kernel/system";
import { createSafeFetch } from "../../../api/http/safe-fetch.ts";

export const start = new Date("2026-08-11T09:30:00.000Z");

/** Time that a test moves. Waits pass `haste` times faster, so that who keeps silent is soon given up. */
export function testClock() {
  const clock = {
    elapsedMs: 0,
    haste: 1,
    now: () => new Date(start.getTime() + clock.elapsedMs),
    monotonicMs: () => clock.elapsedMs,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / clock.haste, signal),
  };
  return clock;
}

/** Log lines that a test may look at. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const line = (level: string) => (fields: unknown, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  return { lines, info: line("info"), warn: line("warn"), error: line("error") };
}

export const fetch = createSafeFetch({ allowLocal: true, userAgent: "farebox-test" });

/** What one of them says: an answer, a status alone, silence, or a line cut in the middle. */
export type Behaviour =
  | { readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number }
  | "silence"
  | "hang-up";

const coinbaseRates = {
  AED: "3.6725",
  AUD: "1.531393568147",
  BTC: "0.0000083612040133",
  CAD: "1.377410468320",
  CHF: "0.807102502018",
  EUR: "0.857632933105",
  EURC: "0.857265323617",
  GBP: "0.743770918557",
  IDR: "16287.5",
  JPY: "147.7105",
  KRW: "1388.12345",
  NOK: "10.2250511252",
  USD: "1.0",
  USDC: "1.0",
} as const;

export function coinbaseBody(changes: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ data: { currency: "USD", rates: { ...coinbaseRates, ...changes } } });
}

const krakenBooks: Readonly<Record<string, readonly [name: string, bid: string, ask: string]>> = {
  EURUSD: ["ZEURZUSD", "1.16590", "1.16600"],
  GBPUSD: ["ZGBPZUSD", "1.34400", "1.34430"],
  AUDUSD: ["AUDUSD", "0.65290", "0.65310"],
  USDCAD: ["ZUSDZCAD", "1.37720", "1.37750"],
  USDJPY: ["ZUSDZJPY", "147.690", "147.720"],
  USDCHF: ["USDCHF", "0.80700", "0.80730"],
  USDCUSD: ["USDCUSD", "0.99990", "1.00000"],
  USDGUSD: ["USDGUSD", "0.99980", "1.00010"],
  EURCEUR: ["EURCEUR", "0.99950", "1.00050"],
};

/** A ticker of the pairs asked for; `changes` are other bids and asks, null for a pair that is not traded. */
export function krakenBody(
  pairs: readonly string[],
  changes: Readonly<Record<string, readonly [bid: string, ask: string] | null>> = {},
): string {
  if (pairs.some((pair) => changes[pair] === null || !krakenBooks[pair]))
    return JSON.stringify({ error: ["EQuery:Unknown asset pair"] });
  const result = Object.fromEntries(
    pairs.map((pair) => {
      const [name = pair, bid = "", ask = ""] = krakenBooks[pair] ?? [];
      const [ownBid, ownAsk] = changes[pair] ?? [bid, ask];
      return [
        name,
        {
          a: [ownAsk, "4000", "4000.000"],
          b: [ownBid, "950", "950.000"],
          c: [ask, "71.22000000"],
          v: ["3094203.23", "8044023.11"],
          p: ["1.1", "1.1"],
          t: [3021, 8114],
          l: [bid, bid],
          h: [ask, ask],
          o: bid,
        },
      ];
    }),
  );
  return JSON.stringify({ error: [], result });
}

const ecbRates = {
  USD: "1.1580",
  JPY: "171.15",
  GBP: "0.8660",
  NOK: "11.8470",
  HUF: "394.40",
  IDR: "18869.24",
};

export function ecbBody(day = "2026-08-10"): string {
  const lines = Object.entries(ecbRates).map(
    ([code, rate]) => `\t\t\t<Cube currency='${code}' rate='${rate}'/>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
\t\t<Cube time='${day}'>
${lines.join("\n")}
\t\t</Cube>
\t</Cube>
</gesmes:Envelope>`;
}

type Exchange = "coinbase" | "kraken" | "ecb";

/** Answers as recorded until told otherwise; counts what was asked. */
export async function startExchanges(now: () => Date) {
  const says: { coinbase: Behaviour | null; kraken: Behaviour | null; ecb: Behaviour | null } = {
    coinbase: null,
    kraken: null,
    ecb: null,
  };
  const books: Record<string, readonly [string, string] | null> = {};
  /** Seconds that the ticker of a pair has lain in a cache. */
  const ages: Record<string, string> = {};
  const asked: Record<Exchange, number> = { coinbase: 0, kraken: 0, ecb: 0 };

  function usual(exchange: Exchange, url: URL): Behaviour {
    if (exchange === "coinbase") return { body: coinbaseBody() };
    if (exchange === "ecb") return { body: ecbBody() };
    const pairs = (url.searchParams.get("pair") ?? "").split(",");
    return { body: krakenBody(pairs, books), headers: { age: ages[pairs[0] ?? ""] ?? "0" } };
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://exchange");
    const exchange = url.pathname.slice(1) as Exchange;
    asked[exchange] += 1;
    const behaviour = says[exchange] ?? usual(exchange, url);
    if (behaviour === "silence") return;
    if (behaviour === "hang-up") return void response.destroy();
    const isAnswer = "body" in behaviour;
    response.sendDate = false;
    response.writeHead(isAnswer ? 200 : behaviour.status, {
      date: now().toUTCString(),
      ...(isAnswer ? behaviour.headers : {}),
    });
    response.end(isAnswer ? behaviour.body : "oh no");
  }

  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    says,
    books,
    ages,
    asked,
    urls: { coinbase: `${at}/coinbase`, kraken: `${at}/kraken`, ecb: `${at}/ecb` },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
