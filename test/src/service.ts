/** The service as an operator runs it: a process of its own, told by environment only. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "drizzle-orm";
import { expect } from "vitest";
import { address, type Hex } from "#kernel/bytes";
import { trialBalance } from "#ledger";
import { type Database, openDatabase } from "#store";
import { existingPlaces } from "../../src/dev/data-place.ts";
import type { DevJson } from "../../src/dev/dev-json.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { runningPostmaster } from "../../src/dev/postmaster.ts";
import { resetDataFolder } from "../../src/dev/reset.ts";
import { authorize, devDomain } from "../support/authorization.ts";
import { silentLog } from "../support/dev-chain.ts";
import { type Answer, until } from "../support/house.ts";
import { programs } from "../support/programs.ts";

type Env = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}
export interface Process {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves when standard output says it; rejects when the process ends first. */
  says(text: string): Promise<void>;
}

/** Everything that any of the processes wrote to standard error, for a look at the whole of it. */
export const allLogs: string[] = [];

const running = new Set<Process>();

/** For the end of a test file, whatever became of its tests. */
export async function killAll(): Promise<void> {
  for (const each of running) each.signal("SIGKILL");
  await Promise.all([...running].map(({ ended }) => ended));
}

function start(file: string, env: Env, args: readonly string[] = []): Process {
  const began = performance.now();
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text.stdout += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    text.stderr += piece;
  });
  const ended = once(child, "close").then(([code, signal]): Ended => {
    allLogs.push(text.stderr);
    running.delete(service);
    return { code, signal, ...text, ms: performance.now() - began };
  });
  const service: Process = {
    child,
    pid: child.pid ?? 0,
    ended,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    signal: (name) => void child.kill(name),
    says: (wanted) =>
      until(
        async () => {
          if (text.stdout.includes(wanted)) return true;
          if (child.exitCode !== null || child.signalCode !== null)
            throw new Error(`ended before it said ${wanted}: ${text.stderr}`);
          return false;
        },
        `the process says ${wanted}`,
        60_000,
      ),
  };
  running.add(service);
  return service;
}

export const startService = (env: Env): Process => start(programs.main, env);
export const farebox = (env: Env, ...args: readonly string[]): Promise<Ended> =>
  start(programs.cli, env, args).ended;

/** A running local deployment and what it says of itself. */
export interface Deployment extends Process {
  readonly env: Env;
  readonly dev: DevJson;
  readonly metricsUrl: string;
}

export async function startDeployment(dataDir: string, more: Env = {}): Promise<Deployment> {
  const env = { FAREBOX_DATA: dataDir, PORT: String(await freePort()), ...more };
  const service = startService(env);
  await service.says("is ready at");
  const dev = JSON.parse(await readFile(join(dataDir, "dev.json"), "utf8")) as DevJson;
  return { ...service, env, dev, metricsUrl: metricsUrlOf(service) };
}

export function metricsUrlOf(service: Process): string {
  return /http:\S+\/metrics/.exec(service.stdout())?.[0] ?? "";
}

/** A data folder that does not exist yet, and its end. */
export async function dataFolder(): Promise<{ readonly dataDir: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), "farebox-test-"));
  const dataDir = join(parent, "data");
  return {
    dataDir,
    async remove() {
      await resetDataFolder({ dataDir, say: () => {} });
      await rm(parent, { recursive: true, force: true });
    },
  };
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Which of the folder's embedded parts run. */
export async function runningParts(dataDir: string): Promise<readonly string[]> {
  const parts: string[] = [];
  const record = await readFile(join(dataDir, "chain.json"), "utf8").catch(() => null);
  if (record && (await answers(`http://127.0.0.1:${JSON.parse(record).port}`))) parts.push("chain");
  for (const { dir } of await existingPlaces(dataDir, "postgres"))
    if (await runningPostmaster(join(dir, "data"))) parts.push("postgres");
  const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
  if (stdout.includes(join(dataDir, "sandbox-provider.json"))) parts.push("provider");
  return parts;
}

/** Whether somebody listens at the URL's port. */
export function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** The deployment's trial balance: posted and pending by account and asset. */
export function booksOf(dev: DevJson): Promise<Record<string, readonly [bigint, bigint]>> {
  return withDatabase(dev, async ({ pool }) => {
    const rows = await trialBalance(pool);
    return Object.fromEntries(
      rows.map(({ path, asset, posted, pending }) => [`${path} ${asset}`, [posted, pending] as const]),
    );
  });
}

/** Whether the gas of every transaction is booked: that follows the finality of what it carried. */
export function isGasBooked(dev: DevJson): Promise<boolean> {
  return withDatabase(dev, async ({ pool }) => {
    const { rows } = await pool.execute(sql`SELECT FROM slot WHERE open`);
    return rows.length === 0;
  });
}

async function withDatabase<T>({ databaseUrl }: DevJson, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url: databaseUrl, log: silentLog, name: "test", maxConnections: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export interface SentPayment {
  readonly signature: Hex;
  readonly nonce: Hex;
  settle(): Promise<Answer>;
}

/** The demo payer signs 0.01 USDC for a resource that the demo merchant has just registered. */
export async function signedPayment({ baseUrl, secretKey, chain, payer }: DevJson): Promise<SentPayment> {
  const headers = { "Content-Type": "application/json" };
  const url = `https://shop.example/${Math.random().toString(36).slice(2)}`;
  const price = { amount: "0.01", asset: "USD" };
  const registered = await call(`${baseUrl}/v1/x402/resources`, {
    method: "POST",
    headers: { ...headers, Authorization: `Bearer ${secretKey}` },
    body: JSON.stringify({ url, price, description: "A thing", mimeType: "application/json" }),
  });
  expect(registered.status).toBe(201);
  const { id, maxTimeoutSeconds } = registered.body;
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 300);
  const { signature, nonce } = await authorize({
    domain: devDomain(address(chain.assets.USDC)),
    key: payer.privateKey as Hex,
    to: chain.treasury,
    value: 10_000n,
    validBefore,
  });
  const accepted = {
    scheme: "exact",
    network: chain.network,
    amount: "10000",
    asset: chain.assets.USDC,
    payTo: chain.treasury,
    maxTimeoutSeconds,
    extra: { name: "USD Coin", version: "2" },
  };
  const authorization = {
    from: payer.address,
    to: chain.treasury,
    value: "10000",
    validAfter: "0",
    validBefore: validBefore.toString(),
    nonce,
  };
  const paymentPayload = {
    x402Version: 2,
    resource: { url },
    accepted,
    payload: { signature, authorization },
  };
  return {
    signature,
    nonce,
    settle: () =>
      call(`${baseUrl}/x402/resources/${id}/settle`, {
        method: "POST",
        headers,
        body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }),
      }),
  };
}
