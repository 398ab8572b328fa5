/** Processes killed and a database restarted under load, and what became of the money. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Checkpoint } from "#facilitator";
import { type Clients, startClients } from "./clients.ts";
import type { Stage } from "./stage.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface Strikes {
  readonly kills: number;
  readonly restarts: number;
  /** New payments a second. */
  readonly perSecond: number;
  /** Between two kills, on average. */
  readonly everyMs: number;
  readonly say: (line: string) => void;
}

export interface Outcome extends Verdict {
  readonly kills: number;
  readonly restarts: number;
  /** How often a process died at each step; `anywhere` is a random instant. */
  readonly diedAt: ReadonlyMap<Checkpoint | "anywhere", number>;
  readonly underLoadMs: number;
  readonly requests: number;
  /** From the last kill until every client was told, and until nothing was under way any more. */
  readonly toldAfterMs: number;
  readonly finalAfterMs: number;
  /** Sorted; of those that settled. */
  readonly latenciesMs: readonly number[];
}

export const steps = [
  "before-claim",
  "claimed",
  "before-slot",
  "slotted",
  "sent",
  "observed",
  "before-credit",
  "credited",
  "before-grant",
  "granted",
  "before-final",
  "final",
] as const satisfies readonly Checkpoint[];

const WARM_UP_MS = 3_000;
/** Enough for a lease of any length that is used here, and for the longest life of what may expire. */
const PATIENCE_MS = 180_000;

export async function torture(stage: Stage, strikes: Strikes): Promise<Outcome> {
  const { number: since } = await stage.dev.chain.head();
  const began = performance.now();
  const clients = startClients(stage, strikes.perSecond);
  await sleep(WARM_UP_MS);
  const diedAt = await strike(stage, clients, strikes);
  const lastKill = performance.now();
  clients.stop();
  const told = clients.done.then(() => performance.now() - lastKill);
  const rest = untilAtRest(stage, clients).then(() => performance.now() - lastKill);
  const [toldAfterMs, finalAfterMs] = await Promise.all([told, rest]);
  return {
    ...(await judge(stage, clients.told, since)),
    kills: strikes.kills,
    restarts: strikes.restarts,
    diedAt,
    underLoadMs: lastKill - began,
    requests: clients.told.reduce((sum, { requests }) => sum + requests, 0),
    toldAfterMs,
    finalAfterMs,
    latenciesMs: clients.told
      .filter(({ refusal }) => refusal === null)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b),
  };
}

/** Every other kill waits for a step, the steps in turn; restarts come evenly between, fast ones and crashes in turn. */
async function strike(
  { instances, database }: Stage,
  clients: Clients,
  { kills, restarts, everyMs, say }: Strikes,
): Promise<Outcome["diedAt"]> {
  const diedAt = new Map<Checkpoint | "anywhere", number>();
  let restarted = 0;
  const began = performance.now();
  for (let kill = 1; kill <= kills; kill += 1) {
    // However long the last one took.
    await sleep(Math.max(0, began + everyMs * (kill - 0.5 + Math.random()) - performance.now()));
    if (Math.floor((kill * restarts) / kills) > restarted) {
      restarted += 1;
      await database.restart(restarted % 2 === 0 ? "immediate" : "fast");
    }
    const step = kill % 2 === 0 ? (steps[(kill / 2) % steps.length] ?? null) : null;
    const cause = await instances.kill(step);
    diedAt.set(cause, (diedAt.get(cause) ?? 0) + 1);
    if (kill % 10 === 0)
      say(
        `${kill} kills, ${restarted} restarts; ${clients.told.length} payments, ${clients.open()} under way`,
      );
  }
  return diedAt;
}

/** Nothing on its way: every claim at its end, no open slot, nothing pending in the books. */
async function untilAtRest({ database }: Stage, clients: Clients): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    await sleep(200);
    if (clients.open() > 0) continue;
    const [row] = await database.query<{ moving: string }>(`
      SELECT (SELECT count(*) FROM slot WHERE open)
        + (SELECT count(*) FROM claim WHERE state NOT IN ('final','expired','cancelled'))
        + (SELECT count(*) FROM ledger_balance WHERE debits_pending <> 0 OR credits_pending <> 0) AS moving`);
    if (row?.moving === "0") return;
  }
}
