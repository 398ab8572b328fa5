/** One seed's life: everything that happens in it follows from its number. First the world does its worst, then it comes
 *  to rest, and what is left must be as it should. */
import { sha256 } from "#kernel/codec";
import { Callers } from "./actors/callers.ts";
import { World } from "./actors/world.ts";
import { checkRows } from "./oracles/rows.ts";
import { Violation } from "./oracles/violation.ts";
import type { Backend } from "./parts/backend.ts";
import type { FaultKind } from "./parts/faults.ts";
import { type Ground, layGround } from "./parts/ground.ts";
import { Process } from "./parts/house.ts";
import type { Call } from "./parts/scheduler.ts";
import { comeToRest } from "./rest.ts";

export interface Lived {
  readonly seed: number;
  readonly violation: Violation | null;
  readonly steps: number;
  /** Of these, while things went wrong: answers and acts, at each of which a process could have been killed. */
  readonly stirred: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly trace: readonly string[];
  /** The trace in short: the same seed has the same mark. */
  readonly mark: string;
}

const MOST_PROCESSES = 2;

/** What is under way in a seed. */
export class Life {
  readonly ground: Ground;
  readonly callers: Callers;
  readonly world: World;
  processes: Process[] = [];
  stirred = 0;
  #started = 0;

  constructor(ground: Ground) {
    this.ground = ground;
    this.callers = new Callers(ground, ground.sales);
    this.world = new World(ground);
  }

  startProcess(): void {
    if (this.processes.length >= MOST_PROCESSES) return;
    this.#started += 1;
    const { faults, chance, scheduler } = this.ground;
    const skew = faults.strikes("clock-skew", 6) ? chance.of([-3_600_000, 3_600_000]) : 0;
    const made = new Process(this.ground, `process ${this.#started}`, skew);
    scheduler.note(made.name, "starts");
    this.processes.push(made);
  }

  async kill(process: Process): Promise<void> {
    const { scheduler } = this.ground;
    this.processes = this.processes.filter((each) => each !== process);
    await process.kill();
    scheduler.note(process.name, "is killed");
  }

  /** One that can be asked, or none. */
  anyProcess(): Process | null {
    const there = this.processes.filter(({ isStalled }) => !isStalled);
    return there.length > 0 ? this.ground.chance.of(there) : null;
  }

  /** What has come up since the last step. */
  async check(): Promise<void> {
    await this.callers.check();
    const [problem] = this.ground.problems;
    if (problem) throw problem;
  }
}

/** A life with chance's choice of faults, or with those of `only` and no others. */
export async function live(
  seed: number,
  backend: Backend,
  only: readonly FaultKind[] | null = null,
): Promise<Lived> {
  return liveOn(await layGround(seed, backend, { only }), seed, stir);
}

/** A course of things, the rest after it, and what the oracles say. */
export async function liveOn(
  ground: Ground,
  seed: number,
  course: (life: Life) => Promise<void>,
): Promise<Lived> {
  const life = new Life(ground);
  let violation: Violation | null = null;
  try {
    await course(life);
    await comeToRest(life);
    await checkRows(life);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error;
  } finally {
    for (const process of life.processes) await process.kill();
  }
  const { scheduler, faults } = ground;
  const { trace, steps } = scheduler;
  return {
    seed,
    violation,
    steps,
    stirred: life.stirred,
    faults: faults.counts,
    trace,
    mark: sha256(trace.join("\n")).slice(0, 18),
  };
}

/** The time in which things go wrong. */
async function stir(life: Life): Promise<void> {
  const { scheduler, chance, faults } = life.ground;
  life.startProcess();
  if (chance.chance(0.4)) life.startProcess();
  const warm = chance.below(2) * WARM_UP;
  for (let acts = 0, most = warm + 15 + chance.below(20); acts < most; ) {
    const ready = scheduler.ready();
    const [first] = ready;
    life.stirred += 1;
    if (first?.within && faults.strikes("kill-in-transaction", 0.1)) await life.kill(first.owner as Process);
    else if (first && faults.strikes("kill", 0.3)) await life.kill(chance.of(ready).owner as Process);
    else if (stallsBeforeSigning(life, ready)) continue;
    else if (first && (scheduler.exclusive !== null || chance.chance(0.93)))
      await scheduler.take(chance.of(ready));
    else {
      acts += 1;
      if (acts === warm + 1) for (let i = 1 + chance.below(3); i > 0; i -= 1) begin(life);
      await (acts <= warm ? wakeSomebody(life) : act(life));
    }
    await scheduler.quiet();
    await life.check();
  }
}

/** Wakings after which a process follows the chain and holds its lanes. */
const WARM_UP = 6;

/** Something that is not an answer: somebody wakes, or the world moves. */
async function act(life: Life): Promise<void> {
  const { chance } = life.ground;
  if (life.processes.length === 0 && chance.chance(0.5)) return life.startProcess();
  if (chance.chance(0.55)) return wakeSomebody(life);
  if (chance.chance(0.2) && goesOn(life)) return;
  const total = acts.reduce((sum, [weight]) => sum + weight, 0);
  let at = chance.below(total);
  for (const [weight, act] of acts) {
    at -= weight;
    if (at < 0) return act(life);
  }
}

const acts: readonly (readonly [weight: number, act: (life: Life) => void | Promise<void>])[] = [
  [22, ({ world, processes }) => world.mine(processes)],
  [14, (life) => begin(life)],
  [10, (life) => withProcess(life, (at) => repeat(life, at))],
  [8, (life) => meddle(life)],
  [8, ({ world, processes, callers }) => world.reorg(processes, callers.payments)],
  [5, (life) => withProcess(life, (at) => life.world.forkView(at))],
  [8, ({ world }) => world.dropTransaction()],
  [3, ({ callers }) => callers.hangUp()],
  [12, (life) => killSomebody(life)],
  [5, (life) => stallSomebody(life)],
  [5, (life) => life.startProcess()],
  [2, (life) => jump(life)],
  [2, (life) => withProcess(life, (at) => void at.tellFacts())],
];

function withProcess(life: Life, work: (at: Process) => void): void {
  const at = life.anyProcess();
  if (at) work(at);
}

function begin(life: Life): void {
  if (life.ground.faults.strikes("spent-first", 3)) spendFirst(life);
  else withProcess(life, (at) => life.callers.begin(at));
  if (life.ground.chance.chance(0.5)) meddle(life);
}

/** A block has what a payment's nonce was spent for before anybody asks about it. */
function spendFirst({ callers, world, processes }: Life): void {
  const payment = callers.sign();
  if (!payment) return;
  world.spendFirst(payment);
  world.mine(processes);
}

function repeat({ callers, ground }: Life, at: Process): void {
  ground.faults.count("repeat");
  callers.repeat(at);
}

function meddle({ callers, world, ground: { chance } }: Life): void {
  if (callers.payments.length === 0) return;
  const payment = chance.of(callers.payments);
  world.meddle(payment);
  if (chance.chance(0.2)) world.fund(payment);
  if (chance.chance(0.1)) world.transfer(payment);
}

async function killSomebody(life: Life): Promise<void> {
  const { faults, chance } = life.ground;
  if (life.processes.length > 0 && faults.strikes("kill", 6)) await life.kill(chance.of(life.processes));
  if (life.processes.length === 0) life.startProcess();
}

/** It stands still until somebody lets it go on. */
function stallSomebody(life: Life): void {
  const { faults, chance, scheduler } = life.ground;
  if (life.processes.length === 0) return;
  const process = chance.of(life.processes);
  if (process.isStalled || !faults.strikes("stall", 6)) return;
  process.isStalled = true;
  scheduler.exclusive = null;
  scheduler.note(process.name, "stalls");
}

function goesOn({ processes, ground: { scheduler } }: Life): boolean {
  const process = processes.find(({ isStalled }) => isStalled);
  if (!process) return false;
  process.isStalled = false;
  scheduler.note(process.name, "goes on");
  return true;
}

const SIGNS = /update "signer" set "next_nonce"/;

/** Where a stall does most harm: it has read its nonce, and goes on when another process may hold its lane. */
function stallsBeforeSigning({ processes, ground }: Life, ready: readonly Call[]): boolean {
  const { faults, scheduler } = ground;
  if (processes.length < 2 || scheduler.exclusive !== null) return false;
  const call = ready.find(({ label }) => SIGNS.test(label));
  if (!call || !faults.strikes("stall", 9)) return false;
  call.owner.isStalled = true;
  scheduler.now += LEASES_LAPSE_MS;
  scheduler.note(call.owner.name, "stalls before it signs");
  return true;
}

export const LEASES_LAPSE_MS = 16_000;

/** Long enough for every lease to lapse. */
function jump({ ground: { faults, scheduler } }: Life): void {
  if (faults.strikes("time-jump", 6)) scheduler.now += LEASES_LAPSE_MS;
}

/** Mostly who is due first: time passes no faster than it must. */
async function wakeSomebody(life: Life): Promise<void> {
  const { scheduler, chance } = life.ground;
  const sleeping = scheduler.sleepers
    .filter(({ owner }) => !owner.isStalled)
    .toSorted((a, b) => a.due - b.due);
  const next = chance.chance(0.97) ? sleeping.slice(0, 6) : sleeping;
  if (next.length > 0) await scheduler.wake(chance.of(next));
}
