/** Whether payments take longer where many were settled before: the same load in turn at a service with few old
 *  settlements and at one with many, each on a database and a chain of its own.
 *  `npm run bench:history [-- --settlements 1000000] [--payments N] [--strict]`: an old settlement leaves five kilobytes in
 *  the centre, and five more in the merchant's payments, of which there may be fewer. */
import { parseArgs } from "node:util";
import { recentImbalance } from "#ledger";
import { openDatabase } from "#store";
import { startFarebox } from "./farebox-server.ts";
import { silent } from "./ground.ts";
import { layGround } from "./lay.ts";
import { percentile } from "./load.ts";
import { measureSettle, measureVerify, type Neighbours, type Sample, sum } from "./measure.ts";
import { growOld } from "./old-rows.ts";
import { fundPayers, makePayers, type Payer } from "./payers.ts";
import { Purse } from "./payments.ts";
import type { Subject } from "./subject.ts";

const AIM = 1.2;
const VERIFY = { count: 30_000, concurrency: 64, seconds: 6 };
const SETTLE = { count: 4_096, concurrency: 256, seconds: 60 };
const LONE = { count: 8, concurrency: 1, seconds: 60 };
const ROUNDS = 3;
const say = (line: string) => void process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    settlements: { type: "string", default: "1000000" },
    payments: { type: "string" },
    strict: { type: "boolean", default: false },
  },
});

interface Stage {
  readonly databaseUrl: string;
  readonly subject: Subject;
  readonly purse: Purse;
  readonly near: Neighbours;
}

interface Seen {
  readonly verify: Sample;
  readonly settle: Sample;
  readonly lone: Sample;
  /** What `/metrics` waits for: it reads what was posted since the last fold, before which all lies that the bench lays. */
  readonly booksMs: number;
}

async function look({ databaseUrl, subject, purse, near }: Stage): Promise<Seen> {
  const shots = ({ count, ...load }: typeof VERIFY) => ({
    bodies: purse.sign(count, subject.offer),
    ...load,
  });
  const verify = await measureVerify(subject, shots(VERIFY), near);
  const settle = await measureSettle(subject, shots(SETTLE), near);
  const lone = await measureSettle(subject, shots(LONE), near);
  return { verify, settle, lone, booksMs: await timeBooks(databaseUrl) };
}

async function timeBooks(url: string): Promise<number> {
  const options = { maxConnections: 1, role: "farebox_app", byIndex: true } as const;
  const db = openDatabase({ url, log: silent, name: "bench", ...options });
  try {
    await db.pool.execute("SELECT 1");
    const began = performance.now();
    await recentImbalance(db.pool);
    return performance.now() - began;
  } finally {
    await db.close();
  }
}

const figures = {
  "verify p50, ms": ({ verify }: Seen) => percentile(verify.latenciesMs, 0.5),
  "verify p99, ms": ({ verify }: Seen) => percentile(verify.latenciesMs, 0.99),
  "settle p50, ms": ({ settle }: Seen) => percentile(settle.latenciesMs, 0.5),
  "settle p99, ms": ({ settle }: Seen) => percentile(settle.latenciesMs, 0.99),
  "lone settle p50, ms": ({ lone }: Seen) => percentile(lone.latenciesMs, 0.5),
  "server's CPU per settle, ms": ({ settle }: Seen) => (1_000 * settle.cpu.server) / settle.succeeded,
  "PostgreSQL's CPU per settle, ms": ({ settle }: Seen) => (1_000 * settle.cpu.postgres) / settle.succeeded,
  "whether the books balance, ms": ({ booksMs }: Seen) => booksMs,
} as const satisfies Record<string, (seen: Seen) => number>;

/** Of these the aim is asked. */
const isLatency = (name: string) => /^(verify|settle|lone)/.test(name);
const failed = ({ verify, settle, lone }: Seen) =>
  [verify, settle, lone].flatMap(({ failures }) => [...failures.values()]).reduce((sum, n) => sum + n, 0);

function report(few: Seen, many: Seen, [before, after]: readonly [number, number]): boolean {
  const lines = Object.entries(figures).map(([name, of]) => {
    const [a, b] = [of(few), of(many)];
    return {
      name,
      ratio: b / a,
      text: `| ${name} | ${a.toFixed(2)} | ${b.toFixed(2)} | ${(b / a).toFixed(2)}× |`,
    };
  });
  process.stdout.write(
    `| old settlements | ${before.toLocaleString("en-US")} | ${after.toLocaleString("en-US")} | ratio |\n|---|--:|--:|--:|\n`,
  );
  process.stdout.write(`${lines.map(({ text }) => text).join("\n")}\n`);
  const isMet =
    lines.every(({ name, ratio }) => !isLatency(name) || ratio <= AIM) && failed(few) + failed(many) === 0;
  process.stdout.write(
    `\n${failed(few)} and ${failed(many)} failures. Aim: latencies at most ${AIM}×, no failure: ${isMet ? "met" : "missed"}.\n`,
  );
  return isMet;
}

type Laid = Awaited<ReturnType<typeof layGround>>;

async function layWith(payers: readonly Payer[]): Promise<Laid> {
  const laid = await layGround({ say });
  const { rpcUrl, chainId, contracts } = laid.ground;
  await fundPayers(payers, {
    ...{ rpcUrl, chainId, token: contracts.assets.USDC, aggregate3: contracts.aggregate3 },
    ...{ deployerKey: contracts.deployer.privateKey, each: 1_000_000_000n },
  });
  return laid;
}

/** Settles some, then copies what is settled. */
async function layOld({ ground, near }: Laid, payers: readonly Payer[]): Promise<number> {
  const { databaseUrl } = ground;
  const subject = await startFarebox(ground, { signers: 1, profileDir: undefined });
  try {
    await look({ databaseUrl, subject, purse: new Purse(payers), near });
  } finally {
    await subject.child.stop();
  }
  const settlements = Number(values.settlements);
  const payments = Number(values.payments ?? settlements);
  const grown = await growOld(databaseUrl, { settlements, payments }, say);
  const gigabytes = (grown.bytes / 2 ** 30).toFixed(1);
  say(`${grown.settlements} settlements, ${grown.payments} payments, ${gigabytes} GiB`);
  return grown.settlements;
}

/** In turn, so that whatever else the machine does strikes both; the first time to warm up. */
async function lookAtBoth(stages: readonly [Stage, Stage]): Promise<readonly [Seen, Seen]> {
  const seen: [Seen[], Seen[]] = [[], []];
  for (const round of Array(ROUNDS + 1).keys())
    for (const [i, stage] of stages.entries()) {
      say(`${round === 0 ? "warming up" : `round ${round}`} with ${i === 0 ? "few" : "many"}`);
      const found = await look(stage);
      if (round > 0) seen[i === 0 ? 0 : 1].push(found);
    }
  return [together(seen[0]), together(seen[1])];
}

function together(seen: readonly Seen[]): Seen {
  return {
    verify: sum(seen.map(({ verify }) => verify)),
    settle: sum(seen.map(({ settle }) => settle)),
    lone: sum(seen.map(({ lone }) => lone)),
    booksMs: percentile(
      seen.map(({ booksMs }) => booksMs).sort((a, b) => a - b),
      0.5,
    ),
  };
}

async function main(): Promise<void> {
  const payers = makePayers(8_192);
  const stops: (() => Promise<unknown>)[] = [];
  const open = async ({ ground, near }: Laid): Promise<Stage> => {
    const subject = await startFarebox(ground, { signers: 1, profileDir: undefined });
    stops.push(() => subject.child.stop());
    return { databaseUrl: ground.databaseUrl, subject, purse: new Purse(payers), near };
  };
  try {
    const many = await layWith(payers);
    stops.push(many.stop);
    const old = await layOld(many, payers);
    const few = await layWith(payers);
    stops.push(few.stop);
    const seen = await lookAtBoth([await open(few), await open(many)]);
    const settled = (ROUNDS + 1) * (SETTLE.count + LONE.count);
    if (!report(...seen, [settled, old + settled]) && values.strict) process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

await main();
