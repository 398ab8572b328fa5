/** The service in processes of its own, on one database and one chain. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Checkpoint } from "#facilitator";
import { freePort } from "../../src/dev/free-port.ts";
import type { TestDatabase } from "./db.ts";
import type { DevChain } from "./dev-chain.ts";
import { masterSecret } from "./house.ts";
import type { KillableArguments } from "./killable.ts";

export interface ServiceProcess {
  readonly baseUrl: string;
  /** Resolves with the signal that ended it, or null. */
  readonly ended: Promise<string | null>;
  stop(): Promise<void>;
}

/** Resolves when it serves. It dies at `killAt`, or when it is stopped. */
export async function startProcess(
  dev: DevChain,
  database: TestDatabase,
  killAt: Checkpoint | null = null,
): Promise<ServiceProcess> {
  const port = await freePort();
  const given: KillableArguments = {
    databaseUrl: database.url,
    chain: dev.config,
    signerKeys: dev.contracts.signers.slice(0, 1).map(({ privateKey }) => privateKey),
    masterSecret,
    port,
    killAt,
  };
  const program = fileURLToPath(new URL("./killable.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(given)], {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = endOf(child);
  const isReady = await Promise.race([once(child, "message").then(() => true), ended.then(() => false)]);
  if (!isReady) throw new Error("the service ended before it was ready");
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    ended,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function endOf(child: ChildProcess): Promise<string | null> {
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  return signal;
}
