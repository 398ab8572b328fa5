/** The service as a process of its own that kills itself, with SIGKILL, at one named step of the first settlement it
 *  takes part in. Started by path; its one argument is JSON. */
import { type ChainConfig, type Checkpoint, chainRow } from "#facilitator";
import type { Hex } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import { compose } from "../../src/compose.ts";
import { serve } from "../../src/serve.ts";
import { silentLog } from "./dev-chain.ts";

/** What `startKillable` hands over. */
export interface KillableArguments {
  readonly databaseUrl: string;
  readonly chain: ChainConfig;
  readonly signerKeys: readonly Hex[];
  readonly masterSecret: string;
  readonly port: number;
  readonly killAt: Checkpoint | null;
}

const given = JSON.parse(process.argv[2] ?? "") as KillableArguments;

// Some steps also pass while nothing is settled: they count from the first claim on.
let isArmed = false;
async function checkpoint(step: Checkpoint): Promise<void> {
  isArmed ||= step === "before-claim";
  if (isArmed && step === given.killAt) process.kill(process.pid, "SIGKILL");
}

const house = await compose({
  databaseUrl: given.databaseUrl,
  chains: [chainRow(given.chain)],
  signerKeys: given.signerKeys,
  treasuryKey: null,
  masterSecret: given.masterSecret,
  role: "all",
  baseUrl: `http://127.0.0.1:${given.port}`,
  rateLimits: "off",
  version: "0.0.0-test",
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
  meter: { count: () => {}, time: () => {} },
  settings: { leaseSeconds: 1, pollMs: 50, maxWaitMs: 10_000 },
  checkpoint,
});
await house.start();
await serve(house, given.port);
process.send?.("ready");
