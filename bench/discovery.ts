/** How long a search takes in an index of 100,000 resources, next to the same search in one of 1,000.
 *  `node --import tsx bench/discovery.ts [--strict]`. */
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { address, hash } from "#kernel/bytes";
import { openDatabase } from "#store";
import { chainRow } from "../facilitator/chain/registry.ts";
import { type DiscoverFilter, discoverPayables, type Index } from "../facilitator/payable/discover.ts";
import type { OfferedRail } from "../facilitator/payable/requirements.ts";
import { type BenchPostgres, openBenchPostgres, silent } from "./ground.ts";
import { fillIndex, word } from "./listings.ts";
import { percentile } from "./load.ts";

const SMALL = 1_000;
const LARGE = 100_000;
const ROUNDS = 40;
const AIM = 2;
const say = (line: string) => void process.stdout.write(`${line}\n`);

const base = chainRow({
  slug: "base",
  chainId: 8453,
  rpcUrls: ["http://127.0.0.1:1"],
  treasury: `0x${"a1".repeat(20)}`,
});
const rails: OfferedRail[] = base.tokens.map((token) => ({
  chain: base,
  rail: {
    ok: true,
    token,
    domain: { name: "n", version: "2", chainId: base.chainId, verifyingContract: address(token.contract) },
    hasBytesOverload: true,
    codeHash: hash(`0x${"0".repeat(64)}`),
    paused: null,
  },
}));

/** What agents ask for: frequent and rare words, several at once, filters, a later page, and nothing in particular. */
const queries: Readonly<Record<string, Partial<DiscoverFilter>>> = {
  "the most frequent word": { query: word(0) },
  "a frequent word": { query: word(8) },
  "a word of every tenth": { query: word(30) },
  "a word of one in a hundred": { query: word(300) },
  "a rare word": { query: word(3_000) },
  "a word nobody has": { query: "xylophone" },
  "two frequent words": { query: `${word(1)} ${word(5)}` },
  "a frequent and a rare word": { query: `${word(2)} ${word(800)}` },
  "three words": { query: `${word(3)} ${word(9)} ${word(27)}` },
  "a word under a price": { query: word(20), maxUsdPrice: 10_000n },
  "a word, live, on a network": { query: word(12), live: true, network: "eip155:8453" },
  "a word, with an input schema": { query: word(50), extension: "bazaar" },
  "the third page of a word": { query: word(15), offset: 40 },
  "no word": {},
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { strict: { type: "boolean", default: false } } });
  const server = await openBenchPostgres();
  try {
    const small = await indexOf(server, SMALL);
    const large = await indexOf(server, LARGE);
    const worst = await compare(small, large);
    await Promise.all([small, large].flatMap(({ db, searchDb }) => [db.close(), searchDb.close()]));
    if (values.strict && worst > AIM) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

async function indexOf(server: BenchPostgres, count: number): Promise<Index> {
  const url = await server.database(`index_of_${count}`);
  const pool = { url, log: silent, name: "bench", maxConnections: 4 };
  const db = openDatabase(pool);
  const began = performance.now();
  await fillIndex(db, count);
  await db.pool.execute(sql`VACUUM ANALYZE`);
  say(`${count} listed resources in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return { db, searchDb: openDatabase({ ...pool, bySearch: true }), now: new Date() };
}

async function compare(small: Index, large: Index): Promise<number> {
  const names = Object.keys(queries);
  const times = new Map(names.map((name) => [name, { small: [] as number[], large: [] as number[] }]));
  for (let round = -5; round < ROUNDS; round += 1)
    for (const name of names) {
      // Side by side, so that whatever else the machine does is shared.
      const one = await timed(small, queries[name] ?? {});
      const other = await timed(large, queries[name] ?? {});
      if (round < 0) continue;
      times.get(name)?.small.push(one);
      times.get(name)?.large.push(other);
    }
  say(
    `\n${"search".padEnd(32)}${"1,000".padStart(10)}${"100,000".padStart(10)}${"ratio".padStart(8)}   (p95, ms)`,
  );
  for (const name of names) line(name, times.get(name) ?? { small: [], large: [] });
  const all = {
    small: [...times.values()].flatMap((each) => each.small),
    large: [...times.values()].flatMap((each) => each.large),
  };
  const ratio = line("all", all);
  say(
    `\nsearch over ${LARGE} resources: p95 is ${ratio.toFixed(2)} of that over ${SMALL}; aim at most ${AIM}`,
  );
  return ratio;
}

async function timed(index: Index, filter: Partial<DiscoverFilter>): Promise<number> {
  const page = { kinds: ["resource"], limit: 20, offset: 0, count: "page", ...filter } as const;
  const began = performance.now();
  await discoverPayables(index, rails, page);
  return performance.now() - began;
}

function line(
  name: string,
  { small, large }: { readonly small: number[]; readonly large: number[] },
): number {
  const p95 = (times: readonly number[]) =>
    percentile(
      times.toSorted((a, b) => a - b),
      0.95,
    );
  const [one, other] = [p95(small), p95(large)];
  const shown = [
    one.toFixed(2).padStart(10),
    other.toFixed(2).padStart(10),
    (other / one).toFixed(2).padStart(8),
  ];
  say(`${name.padEnd(32)}${shown.join("")}`);
  return other / one;
}

await main();
