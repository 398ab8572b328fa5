/** The end of a seed: nothing goes wrong any more, blocks come, and everything that was begun must end. */
import { checkSent } from "./oracles/rows.ts";
import { Violation } from "./oracles/violation.ts";
import type { FaultKind } from "./parts/faults.ts";
import { FINAL_AFTER } from "./parts/node.ts";
import type { Life } from "./seed.ts";

/** Rounds in turn: leases lapse and what waits is sent; it is mined and credited; it is final; its slots close; all
 *  windows are over; then what a loop leaves for later is done. */
const rounds = [
  { ms: 16_000, blocks: 1 },
  { ms: 2_000, blocks: 1 },
  { ms: 2_000, blocks: FINAL_AFTER },
  { ms: 2_000, blocks: 1 },
  { ms: 2_000, blocks: FINAL_AFTER + 1 },
  ...Array.from({ length: 10 }, () => ({ ms: 16_000, blocks: 1 })),
];
/** The round before which a view may lag and blocks may leave and who was never told asks once more; the one by which
 *  all is sent again that was lost; and the one that begins behind every authorization's time. */
const [ASKED_AGAIN, SENT_AGAIN, PAST] = [1, 2, 4];

/** Receipts may lie for some rounds more: most are asked for only now, since few of our transactions are mined earlier. */
const lies: readonly FaultKind[] = ["null-receipt", "false-receipt"];

/** Blocks come and loops turn until nothing is open. */
export async function comeToRest(life: Life): Promise<void> {
  const { tree } = life.ground;
  await calm(life);
  await finishCalls(life);
  life.world.lastMeddling(life.callers.payments);
  for (const [i, { ms, blocks }] of rounds.entries()) {
    if (i === ASKED_AGAIN) await lastAsks(life);
    if (i === SENT_AGAIN) {
      await checkSent(life);
      life.ground.faults.lasting.clear();
    }
    if (i === PAST) await passAllWindows(life);
    life.ground.scheduler.now += ms;
    for (let n = 0; n < blocks; n += 1) life.world.mine(life.processes);
    await turnAll(life);
    if (i >= ASKED_AGAIN && (await openThings(life)).length === 0) return;
  }
  const open = await openThings(life);
  throw new Violation("everything-ends", `still open at ${tree.tip.ref.number}: ${open.join("; ")}`);
}

async function lastAsks(life: Life): Promise<void> {
  const { world, callers, processes } = life;
  await lastLag(life);
  world.lastStranger(callers.payments, 0.2);
  if (world.lastReorg(0.3)) await findCommonBlock(life);
  callers.lastLosses(processes);
  await finishCalls(life);
  callers.lastAsks(processes);
  await finishCalls(life);
  // What was claimed now is sent in time.
  if (callers.payments.some(({ asked }) => asked.at(-1)?.isOpen)) await turnAll(life);
}

/** A block that says that all authorizations have ended is not the last word: one may win instead that was mined in time,
 *  with a transaction that the others never had. */
async function passAllWindows(life: Life): Promise<void> {
  const { ground, world, callers, processes } = life;
  ground.scheduler.now = Math.max(ground.scheduler.now, pastAll(life));
  if (!ground.chance.chance(0.2)) return;
  world.mine(processes);
  await turnAll(life);
  world.lastStranger(callers.payments, 0.5);
  world.lastReorg(1);
  await findCommonBlock(life);
}

/** Faults end. One process is left, the others died with what they had in hand. */
async function calm(life: Life): Promise<void> {
  const { faults, scheduler, chance } = life.ground;
  faults.isOff = true;
  for (const kind of lies) faults.lasting.add(kind);
  scheduler.note("chain", "settles down");
  for (const process of life.processes) {
    process.isStalled = false;
    process.view.side = null;
  }
  if (chance.chance(0.5)) await finishCalls(life);
  for (const process of life.processes.slice(1)) await life.kill(process);
  if (life.processes.length === 0) life.startProcess();
  life.world.lastDrop();
}

/** By now most has been credited that a view which lags must not take back. */
async function lastLag(life: Life): Promise<void> {
  const { chance, faults, scheduler } = life.ground;
  const [only] = life.processes;
  if (!only || !chance.chance(0.15)) return;
  faults.count("lagging-view");
  only.view.behind = 1 + chance.below(FINAL_AFTER - 1);
  scheduler.note("chain", `${only.name} lags ${only.view.behind} blocks behind`);
  scheduler.now += 2_000;
  await turnAll(life);
  only.view.behind = 0;
}

/** A turn to find the last common block, before there are newer ones to follow. */
async function findCommonBlock(life: Life): Promise<void> {
  life.ground.scheduler.now += 2_000;
  await turnAll(life);
}

/** Milliseconds beyond every authorization's time. */
function pastAll({ callers }: Life): number {
  return 1000 * (1 + Math.max(0, ...callers.payments.map(({ terms }) => Number(terms.validBefore))));
}

/** All that is under way, first come first served. */
async function finishCalls(life: Life): Promise<void> {
  const { scheduler } = life.ground;
  await scheduler.quiet();
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

async function openThings({ ground: { backend, row, tree } }: Life): Promise<readonly string[]> {
  const rows = await backend.look<Open>(
    `SELECT kind || ' ' || id || ' is ' || state || ' after ' || attempts || ' attempts' AS what FROM claim
       WHERE chain_id = $1 AND state NOT IN ('final','expired','cancelled','review')
     UNION ALL SELECT 'the chain is followed to ' || cursor_number FROM observer WHERE chain_id = $1 AND cursor_number < $2
     UNION ALL SELECT 'slot ' || id || ' is open' FROM slot WHERE chain_id = $1 AND open
     UNION ALL SELECT 'fact ' || id || ' ' || type || ' is not told' FROM outbox WHERE delivered_at IS NULL
     UNION ALL SELECT 'transfer in ' || block_number || ' is not booked' FROM chain_transfer
       WHERE chain_id = $1 AND canonical AND (claimed_kind IS NULL OR claimed_kind = 'unmatched' AND NOT booked_final)`,
    [row.chainId, tree.tip.ref.number],
  );
  return rows.map(({ what }) => what);
}
