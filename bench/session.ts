/** The frame of a benchmark that starts services of its own: parts laid, payers funded, everything ended at the end. */
import { cpus, loadavg } from "node:os";
import { layGround } from "./lay.ts";
import { fundPayers, makePayers, type Payer } from "./payers.ts";
import type { Ground } from "./subject.ts";

const BLOCK_TIME_SECONDS = 1;
/** Atomic units: a thousand dollars. */
const EACH = 1_000_000_000n;

export interface Session {
  readonly ground: Ground;
  /** With money, and after them as many as were asked for without. */
  readonly payers: readonly Payer[];
  readonly paupers: readonly Payer[];
  readonly say: (line: string) => void;
  /** Ends it with the others, last first. */
  readonly stops: (() => Promise<void>)[];
}

/** Runs `work` and prints what it returns; exits 1 when it throws. */
export async function session(
  { payers, paupers = 0 }: { readonly payers: number; readonly paupers?: number },
  work: (session: Session) => Promise<string>,
): Promise<never> {
  const stops: (() => Promise<void>)[] = [];
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  let code = 0;
  try {
    const { ground } = await layGround({ blockTimeSeconds: BLOCK_TIME_SECONDS, say, stops });
    const all = makePayers(payers + paupers);
    const funded = all.slice(0, payers);
    const { rpcUrl, chainId, contracts } = ground;
    await fundPayers(funded, {
      ...{ rpcUrl, chainId, each: EACH },
      token: contracts.assets.USDC,
      aggregate3: contracts.aggregate3,
      deployerKey: contracts.deployer.privateKey,
    });
    const text = await work({ ground, payers: funded, paupers: all.slice(payers), say, stops });
    process.stdout.write(`${text}\n${conditions()}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    code = 1;
  }
  for (const stop of stops.reverse())
    await stop().catch((error) => say(`a part did not stop cleanly: ${String(error)}`));
  process.exit(code);
}

function conditions(): string {
  const load = loadavg()
    .map((each) => each.toFixed(1))
    .join(", ");
  return `\n${cpus().length} cores shared by services, chain node, PostgreSQL and load; load average at the end ${load}; Node ${process.version}; ${BLOCK_TIME_SECONDS} s blocks.`;
}
