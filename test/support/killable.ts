/** The service as a process of its own. Its standard input tells it to start, and then at which step to kill itself, a
 *  line each; its standard output says when that is done. Run by processes.ts. */
import { createInterface } from "node:readline";
import { type ChainConfig, type Checkpoint, chainRow, type Settings } from "#facilitator";
import type { Hex } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import { compose, type Parts } from "../../src/compose.ts";
import { serve } from "../../src/serve.ts";

/** What it is built from, as JSON in its first argument. */
export interface KillableParts {
  readonly databaseUrl: string;
  readonly chain: ChainConfig;
  readonly signerKeys: readonly Hex[];
  readonly treasuryKey: Hex;
  readonly masterSecret: string;
  readonly port: number;
  readonly settings: Partial<Settings>;
  readonly clockAheadMs: number;
  readonly role: Parts["role"];
}

const { chain, port, clockAheadMs, ...parts }: KillableParts = JSON.parse(process.argv[2] ?? "");
let deadly: string | null = null;
let isArmed = false;

/** Blocks are followed all the time: a kill there waits until a transaction of ours is under way. */
function checkpoint(step: Checkpoint): Promise<void> {
  if (step === "slotted") isArmed = true;
  if (step !== deadly || (step === "observed" && !isArmed)) return Promise.resolve();
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
}

async function start(): Promise<void> {
  const quiet = () => undefined;
  const house = await compose({
    ...parts,
    chains: [chainRow(chain)],
    baseUrl: `http://127.0.0.1:${port}`,
    rateLimits: "off",
    version: "0.0.0-test",
    clock: { ...systemClock, now: () => new Date(Date.now() + clockAheadMs) },
    random: systemRandom,
    log: { info: quiet, warn: quiet, error: quiet },
    meter: { count: quiet, time: quiet },
    checkpoint,
  });
  await house.start();
  await serve(house, port);
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "start") await start();
  else deadly = line;
  isArmed = false;
  process.stdout.write("done\n");
}
