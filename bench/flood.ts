/** What a flood of payments that nobody can be paid with does to an honest merchant's, and what gas it burns.
 *  `npm run bench:flood [-- --strict]`; `--only "a wallet|gone"` for some kinds of flood. */
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { openDatabase } from "#store";
import { PAYMENT_GAS } from "../facilitator/chain/gas-budgets.ts";
import { FAILED_COUNTS } from "../facilitator/settlement/budget/policy.ts";
import { rpc } from "../src/dev/rpc.ts";
import { type Farebox, registerResource, secretKey, startFarebox } from "./farebox-server.ts";
import { silent } from "./ground.ts";
import { layGround } from "./lay.ts";
import { percentile } from "./load.ts";
import { fundPayers, makePayers } from "./payers.ts";
import { Purse } from "./payments.ts";
import { fireSteadily, type Told } from "./steady.ts";
import type { Ground } from "./subject.ts";
import { kinds, type Scene } from "./unpayable.ts";

const AIM = 1.5;
const HONEST_PAYERS = 4_000;
/** Atomic units: a thousand dollars. */
const EACH_HAS = 1_000_000_000n;
/** Wei per gas at which every flood begins: what is half empty gets cheaper with each block. */
const USUAL_FEE = 1_000_000_000n;
/** Wei that a payment in a batch takes then; the tip is as much again. */
const ITEM_WEI = PAYMENT_GAS * 2n * USUAL_FEE;
/** Payments whose gas the budgets cover: fewer than the usual ones of a resource, so that one flood gets there. */
const budgets = { payer: 1_000n, newPayer: 20n, payable: 600n, merchant: 600n, chain: 100_000n };
const say = (line: string) => void process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    honest: { type: "string", default: "20" },
    flood: { type: "string", default: "100" },
    only: { type: "string", default: "" },
    strict: { type: "boolean", default: false },
  },
});
const [seconds, honestRate, floodRate] = [values.seconds, values.honest, values.flood].map(Number) as [
  number,
  number,
  number,
];

interface Stage {
  readonly ground: Ground;
  readonly farebox: Farebox;
  readonly purse: Purse;
  /** Of the merchant who is flooded. */
  readonly flooded: { readonly id: string; readonly scene: Scene };
}

interface Row {
  readonly what: string;
  readonly p50: number;
  readonly p95: number;
  readonly failures: number;
  readonly gasWei: bigint;
  readonly weighedWei: bigint;
  readonly answers: string;
}

async function open(ground: Ground): Promise<Stage> {
  const gasBudgets = Object.fromEntries(
    Object.entries(budgets).map(([name, payments]) => [name, String(payments * ITEM_WEI)]),
  );
  const farebox = await startFarebox(ground, { signers: 1, profileDir: undefined, gasBudgets });
  const { rpcUrl, chainId, contracts } = ground;
  const payers = makePayers(HONEST_PAYERS);
  await fundPayers(payers, {
    ...{ rpcUrl, chainId, token: contracts.assets.USDC, aggregate3: contracts.aggregate3 },
    ...{ deployerKey: contracts.deployer.privateKey, each: EACH_HAS },
  });
  const url = "https://flooded.example.com/bench";
  const { id, offer } = await registerResource(farebox.baseUrl, await secretKey(farebox.env), url);
  const scene = { rpcUrl, chainId, contracts, offer };
  return { ground, farebox, purse: new Purse(payers), flooded: { id, scene } };
}

const honest = ({ farebox, purse }: Stage, forSeconds: number) =>
  fireSteadily({
    url: `${farebox.baseUrl}${farebox.settlePath}`,
    shots: purse.sign(honestRate * forSeconds, farebox.offer).map((body) => ({ body })),
    perSecond: honestRate,
  });

async function measure(stage: Stage, kind: (typeof kinds)[number] | null): Promise<Row> {
  const { farebox, flooded, ground } = stage;
  const shots = kind ? await kind.make(flooded.scene, floodRate * seconds) : [];
  await beginAnew(ground);
  const url = `${farebox.baseUrl}/x402/resources/${flooded.id}/settle`;
  const [told, flood] = await Promise.all([
    honest(stage, seconds),
    kind ? fireSteadily({ url, shots, perSecond: floodRate }) : [],
  ]);
  const { wei, weighed } = await burned(ground, flooded.id);
  const latencies = told
    .filter(({ outcome }) => outcome === "success")
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);
  const row = {
    what: kind?.name ?? "quiet",
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    failures: told.length - latencies.length,
    gasWei: wei,
    weighedWei: weighed,
    answers: counted(flood),
  };
  say(`${row.what}: p95 ${row.p95.toFixed(0)} ms, honest: ${counted(told)}; flood: ${row.answers}`);
  return row;
}

function counted(told: readonly Told[]): string {
  const times = new Map<string, number>();
  for (const { outcome } of told) times.set(outcome, (times.get(outcome) ?? 0) + 1);
  return [...times].map(([outcome, count]) => `${count} × ${outcome}`).join(", ");
}

/** As if an hour had passed: nothing is burned. */
async function beginAnew({ databaseUrl, rpcUrl }: Ground): Promise<void> {
  const db = openDatabase({ url: databaseUrl, log: silent, name: "bench", maxConnections: 1 });
  await db.pool.execute(sql`WITH of_payers AS (DELETE FROM payer_gas) DELETE FROM gas_burn`);
  await db.close();
  await rpc(rpcUrl, "anvil_setNextBlockBaseFeePerGas", [`0x${USUAL_FEE.toString(16)}`], 20_000);
}

/** Wei that payments of a resource have burned within the hour, and how its budget counts them. */
async function burned({ databaseUrl }: Ground, resourceId: string) {
  const db = openDatabase({ url: databaseUrl, log: silent, name: "bench", maxConnections: 1 });
  const { rows } = await db.pool.execute<{ wei: string; wasted: string }>(
    sql`SELECT wei, wasted_wei AS wasted FROM gas_burn WHERE kind = 'payable' AND subject = ${resourceId}`,
  );
  await db.close();
  const [wei, wasted] = [BigInt(rows[0]?.wei ?? 0), BigInt(rows[0]?.wasted ?? 0)];
  return { wei, weighed: wei + BigInt(FAILED_COUNTS - 1) * wasted };
}

const limit = budgets.payable * ITEM_WEI;
/** The slower one of before and after. */
const quietP95 = (rows: readonly Row[]) =>
  Math.max(...rows.filter(({ what }) => what === "quiet").map(({ p95 }) => p95));

function table(rows: readonly Row[]): string {
  const quiet = quietP95(rows);
  const gwei = (wei: bigint) => (Number(wei) / 1e9).toLocaleString("en-US", { maximumFractionDigits: 0 });
  return [
    "| flood | p50 ms | p95 ms | ratio | failed | gas burned, gwei | of the budget | what failed five-fold | answers to the flood |",
    "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ...rows.map(({ what, p50, p95, failures, gasWei, weighedWei, answers }) => {
      const shares = [gasWei, weighedWei].map(
        (wei) => `${((100 * Number(wei)) / Number(limit)).toFixed(0)}%`,
      );
      const cells = [what, p50.toFixed(0), p95.toFixed(0), `${(p95 / quiet).toFixed(2)}×`, failures];
      return `| ${[...cells, gwei(gasWei), ...shares, answers].join(" | ")} |`;
    }),
  ].join("\n");
}

function isMet(rows: readonly Row[]): boolean {
  const quiet = quietP95(rows);
  return rows.every(({ p95, failures, gasWei }) => p95 <= AIM * quiet && failures === 0 && gasWei <= limit);
}

async function main(): Promise<void> {
  const { ground, stop } = await layGround();
  try {
    const stage = await open(ground);
    try {
      say("warming up");
      await honest(stage, 15);
      const rows = [await measure(stage, null)];
      const chosen = kinds.filter(({ name }) => new RegExp(values.only).test(name));
      for (const kind of chosen) rows.push(await measure(stage, kind));
      rows.push(await measure(stage, null));
      process.stdout.write(`${table(rows)}\n`);
      process.stdout.write(
        `\nHonest settles ${honestRate} a second, the flood ${floodRate} a second, ${seconds} s each. Aims: p95 at most ${AIM}× of the quiet one, no honest failure, gas under the budget: ${isMet(rows) ? "met" : "missed"}.\n`,
      );
      if (values.strict && !isMet(rows)) process.exitCode = 1;
    } finally {
      await stage.farebox.child.stop();
    }
  } finally {
    await stop();
  }
}

await main();
