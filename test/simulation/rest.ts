/** The end of a seed: nothing goes wrong any more, blocks come, and everything that was begun must end. */
import { Violation } from "./oracles/violation.ts";
import type { Life } from "./seed.ts";

const ROUND_MS = 16_000;
const MOST_ROUNDS = 14;
/** Rounds after which all windows are over. */
const LAST_CALLS_AFTER = 1;

/** Blocks come and loops turn until nothing is open. Who was never told gets to ask once more. */
export async function comeToRest(life: Life): Promise<void> {
  const { faults, scheduler, tree } = life.ground;
  faults.isOff = true;
  scheduler.exclusive = null;
  for (const process of life.processes) {
    process.isStalled = false;
    process.view.side = null;
  }
  if (life.processes.length === 0) life.startProcess();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    await finishCalls(life);
    scheduler.now += ROUND_MS;
    life.world.mine(life.processes);
    life.world.mine(life.processes);
    await turnAll(life);
    if (round === LAST_CALLS_AFTER) passTime(life);
    if (round > LAST_CALLS_AFTER && (await openThings(life)).length === 0) return;
  }
  throw new Violation("everything-ends", `still open at ${tree.tip.ref.number}: ${(await openThings(life)).join("; ")}`);
}

/** Beyond every authorization's time. */
function passTime({ ground: { scheduler, tree }, world, processes, callers }: Life): void {
  const last = Math.max(0, ...callers.payments.map(({ terms }) => Number(terms.validBefore)));
  scheduler.now = Math.max(scheduler.now, (last + 1) * 1000);
  for (let i = 0; i < 4; i += 1) world.mine(processes);
  scheduler.note("chain", `is past all windows at ${tree.tip.ref.number}`);
}

/** All that is under way, first come first served. */
async function finishCalls(life: Life): Promise<void> {
  const { scheduler } = life.ground;
  for (;;) {
    const [next] = scheduler.ready();
    if (!next) return life.check();
    await scheduler.take(next);
    await life.check();
  }
}

/** Every loop takes one turn. */
async function turnAll(life: Life): Promise<void> {
  const { scheduler } = life.ground;
  for (const sleeper of scheduler.sleepers.filter(({ due }) => due <= scheduler.now)) {
    await scheduler.wake(sleeper);
    await finishCalls(life);
  }
  const [first] = life.processes;
  if (first) void first.tellFacts();
  await finishCalls(life);
}

interface Open extends Record<string, unknown> {
  readonly what: string;
}

async function openThings({ ground: { backend, row } }: Life): Promise<readonly string[]> {
  const rows = await backend.look<Open>(
    `SELECT kind || ' ' || id || ' is ' || state || ' after ' || attempts || ' attempts' AS what FROM claim
       WHERE chain_id = $1 AND state NOT IN ('final','expired','cancelled','review')
     UNION ALL SELECT 'slot ' || id || ' is open' FROM slot WHERE chain_id = $1 AND open
     UNION ALL SELECT 'fact ' || id || ' ' || type || ' is not told' FROM outbox WHERE delivered_at IS NULL
     UNION ALL SELECT 'transfer in ' || block_number || ' is not booked' FROM chain_transfer
       WHERE chain_id = $1 AND canonical AND (claimed_kind IS NULL OR claimed_kind = 'unmatched' AND NOT booked_final)`,
    [row.chainId],
  );
  return rows.map(({ what }) => what);
}
