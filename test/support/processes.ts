/** The whole service as an operating system's process of its own, which a test may kill at a named step. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Checkpoint, Settings } from "#facilitator";
import { nodeFlags } from "../../src/build.ts";
import { freePort } from "../../src/dev/free-port.ts";
import type { TestDatabase } from "./db.ts";
import { type DevChain, masterSecret } from "./dev-chain.ts";
import type { KillableParts } from "./killable.ts";
import { programs } from "./programs.ts";

export interface ServiceProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** Resolves when it has ended, by whatever way. */
  readonly ended: Promise<void>;
  /** From now on it dies when it gets to this step. */
  killAt(step: Checkpoint): Promise<void>;
  /** SIGKILL: what it holds lapses. */
  stop(): Promise<void>;
}

/** A process that has loaded its code and waits: starting it takes less of the test's time. */
export interface StandingBy {
  start(): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly lanes?: number;
  readonly settings?: Partial<Settings>;
  /** How far its wall clock is ahead of the machine's; behind when negative. */
  readonly clockAheadMs?: number;
  readonly role?: KillableParts["role"];
}

export function startProcess(...to: Parameters<typeof standBy>): Promise<ServiceProcess> {
  return standBy(...to).then((waiting) => waiting.start());
}

export async function standBy(
  dev: DevChain,
  database: TestDatabase,
  { lanes = 1, settings = {}, clockAheadMs = 0, role = "all" }: ProcessOptions = {},
): Promise<StandingBy> {
  const port = await freePort();
  const parts: KillableParts = {
    databaseUrl: database.url,
    chain: dev.config,
    signerKeys: dev.contracts.signers.slice(0, lanes).map(({ privateKey }) => privateKey),
    treasuryKey: dev.contracts.treasury.privateKey,
    masterSecret,
    port,
    clockAheadMs,
    role,
    settings: { leaseSeconds: 1, pollMs: 50, maxWaitMs: 10_000, ...settings },
  };
  const child = spawn(process.execPath, [...nodeFlags, programs.killable, JSON.stringify(parts)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => undefined); // it may have ended before it was told
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit").then(() => {
    process.removeListener("exit", kill);
  });
  const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (line: string) => {
    child.stdin.write(`${line}\n`);
    const { value } = await said.next();
    if (value !== "done") throw new Error(`the service process did not do this: ${line}`);
  };
  const end = async () => {
    kill();
    await ended;
  };
  return {
    stop: end,
    async start() {
      await tell("start");
      return { baseUrl: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, ended, killAt: tell, stop: end };
    },
  };
}
