/** Whether payments take longer where many were settled before: the same load with few old settlements and with many.
 *  `npm run bench:history [-- --settlements 1000000] [--payments N] [--strict]`: an old settlement leaves five kilobytes in
 *  the centre, and five more in the merchant's payments, of which there may be fewer. */
import { parseArgs } from "node:util";
import { recentImbalance } from "#ledger";
import { openDatabase } from "#store";
import { startFarebox } from "./farebox-server.ts";
import { silent } from "./ground.ts";
import { layGround } from "./lay.ts";
import { percentile } from "./load.ts";
import { measureSettle, measureVerify, type Neighbours, type Sample } from "./measure.ts";
import { growOld } from "./old-rows.ts";
import { fundPayers, makePayers, type Payer } from "./payers.ts";
import { Purse } from "./payments.ts";
import type { Subject } from "./subject.ts";

const AIM = 1.2;
const VERIFY = { count: 30_000, concurrency: 64, seconds: 6 };
const SETTLE = { count: 4_096, concurrency: 256, seconds: 60 };
const LONE = { count: 8, concurrency: 1, seconds: 60 };
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

/** Of a service that is started for it, and warm. */
async function lookAt({ ground, near }: Laid, payers: readonly Payer[], what: string): Promise<Seen> {
  const subject = await startFarebox(ground, { signers: 1, profileDir: undefined });
  try {
    const stage = { databaseUrl: ground.databaseUrl, subject, purse: new Purse(payers), near };
    say(`warming up with ${what}`);
    await look(stage);
    say(`with ${what}`);
    return await look(stage);
  } finally {
    await subject.child.stop();
  }
}

async function main(): Promise<void> {
  const laid = await layGround(say);
  try {
    const { rpcUrl, chainId, contracts, databaseUrl } = laid.ground;
    const payers = makePayers(8_192);
    await fundPayers(payers, {
      ...{ rpcUrl, chainId, token: contracts.assets.USDC, aggregate3: contracts.aggregate3 },
      ...{ deployerKey: contracts.deployer.privateKey, each: 1_000_000_000n },
    });
    const few = await lookAt(laid, payers, "few");
    const settled = 2 * (SETTLE.count + LONE.count);
    say("copying what is settled");
    const settlements = Number(values.settlements);
    const payments = Number(values.payments ?? settlements);
    const grown = await growOld(databaseUrl, { settlements, payments }, say);
    const gigabytes = (grown.bytes / 2 ** 30).toFixed(1);
    say(`${grown.settlements} settlements, ${grown.payments} payments, ${gigabytes} GiB`);
    const many = await lookAt(laid, payers, "many");
    if (!report(few, many, [settled, grown.settlements]) && values.strict) process.exitCode = 1;
  } finally {
    await laid.stop();
  }
}

await main();
