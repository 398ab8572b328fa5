/** Payment intents made in a second, next to a floor that runs the same SQL behind bare Hono.
 *  `node --import tsx bench/intents.ts [--strict] [--cpu-prof DIR]`. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ulid } from "ulid";
import type { House } from "../src/compose.ts";
import { freePort } from "../src/dev/free-port.ts";
import { startBenchChain } from "./chain.ts";
import { type Child, startChild } from "./child.ts";
import { openBenchPostgres } from "./ground.ts";
import {
  type Ground as Base,
  chainConfig,
  deployBenchContracts,
  masterSecret,
  newSecretKey,
  openWebHouse,
} from "./house.ts";
import { type LoadResult, percentile, runLoad } from "./load.ts";
import { idsIn, recordStatements } from "./statements.ts";

const CONCURRENCY = 32;
const SECONDS = 5;
const ROUNDS = 3;
const AIM = 0.6;
const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Ground extends Base {
  readonly dir: string;
  /** Where our server leaves its CPU profile. */
  readonly profileDir: string | undefined;
}
interface Subject {
  readonly name: string;
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly child: Child;
}

const body = JSON.stringify({
  amount: { amount: "49.99", asset: "USD" },
  merchantReference: "order 1001",
  metadata: { basket: "7" },
});

const headersOf = (secretKey: string, key: string) => ({
  authorization: `Bearer ${secretKey}`,
  "idempotency-key": key,
});

/** Writes down one request's statements; returns the file and the ids that it made: those that the request before it
 *  does not have. */
async function record(house: House, dir: string, secretKey: string) {
  let answer: unknown;
  const make = async (key: string) => {
    const response = await house.app.request("/v1/payment-intents", {
      method: "POST",
      headers: { ...headersOf(secretKey, key), "content-type": "application/json" },
      body,
    });
    if (response.status !== 201) throw new Error(`an intent: ${response.status} ${await response.text()}`);
    answer = await response.json();
  };
  for (let i = 0; i < 5; i += 1) await make(`warm-${i}`);
  const before = new Set(idsIn(await recordStatements(() => make(ulid()))));
  const key = ulid(); // as long as what comes in its place
  const statements = await recordStatements(() => make(key));
  const file = join(dir, "statements.json");
  await writeFile(file, JSON.stringify({ statements, answer, key }));
  say(`one request sends ${statements.length} statements`);
  return { file, made: idsIn(statements).filter((id) => !before.has(id)) };
}

async function startOurs(ground: Ground, secretKey: string): Promise<Subject> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const { contracts } = ground;
  const child = await startChild({
    name: "farebox",
    args: ["src/main.ts"],
    nodeOptions: ground.profileDir ? ["--cpu-prof", "--cpu-prof-dir", resolve(ground.profileDir)] : [],
    env: {
      DATABASE_URL: ground.databaseUrl,
      FAREBOX_CHAINS: JSON.stringify([chainConfig(ground)]),
      FAREBOX_SIGNER_KEYS: contracts.signers
        .slice(0, 1)
        .map(({ privateKey }) => privateKey)
        .join(","),
      FAREBOX_TREASURY_KEY: contracts.treasury.privateKey,
      FAREBOX_MASTER_SECRET: masterSecret,
      FAREBOX_RATE_LIMITS: "off",
      FAREBOX_BASE_URL: baseUrl,
      FAREBOX_DATA: ground.dir,
      PORT: String(port),
      ROLE: "web",
    },
    readyUrl: `${baseUrl}/health`,
    logFile: join(ground.dir, "farebox.log"),
    home: ground.dir,
  });
  return { name: "farebox", baseUrl, secretKey, child };
}

async function startFloor(
  ground: Ground,
  recorded: { file: string; made: readonly string[] },
): Promise<Subject> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const made = recorded.made.flatMap((id) => ["--made", id]);
  const where = ["--port", String(port), "--statements", recorded.file, "--database", ground.databaseUrl];
  const child = await startChild({
    name: "floor",
    args: ["bench/floor-server.ts", ...where, ...made],
    readyUrl: `${baseUrl}/health`,
    logFile: join(ground.dir, "floor.log"),
    home: ground.dir,
  });
  return { name: "floor", baseUrl, secretKey: "none", child };
}

let keys = 0;
function load({ baseUrl, secretKey }: Subject, seconds: number): Promise<LoadResult> {
  const bodies = Array.from({ length: seconds * 4_000 }, () => body);
  const headers = () => {
    keys += 1;
    return headersOf(secretKey, `bench-${keys}`);
  };
  const judge = (status: number, text: string) => (status === 201 ? null : `${status} ${text.slice(0, 120)}`);
  return runLoad({
    baseUrl,
    path: "/v1/payment-intents",
    bodies,
    headers,
    concurrency: CONCURRENCY,
    seconds,
    judge,
  });
}

async function rate(subject: Subject): Promise<number> {
  const { succeeded, seconds, failures, latenciesMs } = await load(subject, SECONDS);
  for (const [reason, count] of failures) throw new Error(`${subject.name}: ${count} × ${reason}`);
  const perSecond = succeeded / seconds;
  say(
    `${subject.name.padEnd(8)}${perSecond.toFixed(0).padStart(6)} per second, p99 ${percentile(latenciesMs, 0.99).toFixed(0)} ms`,
  );
  return perSecond;
}

async function measure(ours: Subject, floor: Subject): Promise<number> {
  await load(floor, 1);
  await load(ours, 2);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [least, own] = [await rate(floor), await rate(ours)];
    ratios.push(own / least);
  }
  return ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { strict: { type: "boolean", default: false }, "cpu-prof": { type: "string" } },
  });
  const dir = await mkdtemp(join(tmpdir(), "farebox-intents-"));
  const stops: (() => Promise<void>)[] = [];
  try {
    const server = await openBenchPostgres();
    stops.push(server.stop);
    const databaseUrl = await server.database("intents");
    const chain = await startBenchChain(join(dir, "chain"), 1);
    stops.push(chain.stop);
    const contracts = await deployBenchContracts(chain);
    const ground: Ground = { dir, databaseUrl, chain, contracts, profileDir: values["cpu-prof"] };
    const house = await openWebHouse(ground);
    const { secretKey } = await newSecretKey(house);
    const recorded = await record(house, dir, secretKey);
    await house.close();
    const ours = await startOurs(ground, secretKey);
    stops.push(ours.child.stop);
    const floor = await startFloor(ground, recorded);
    stops.push(floor.child.stop);
    const ratio = await measure(ours, floor);
    say(`\nintents: ${ratio.toFixed(2)} of the floor; aim at least ${AIM}`);
    if (values.strict && ratio < AIM) process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

await main();
