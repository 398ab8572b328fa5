/** Two payments at two processes on a calm chain: the same few hundred steps each time. At each of them one thing may be
 *  out of the ordinary, and once it was, another one at each that follows: nothing here is left to chance. */
import { choices } from "../property/payments/random.ts";
import { Violation } from "./oracles/violation.ts";
import type { Backend } from "./parts/backend.ts";
import { layGround } from "./parts/ground.ts";
import type { Process } from "./parts/house.ts";
import { FINAL_AFTER } from "./parts/node.ts";
import type { Call } from "./parts/scheduler.ts";
import { wipe } from "./parts/shop.ts";
import { LEASES_LAPSE_MS, type Life, type Lived, liveOn } from "./seed.ts";

/** What may come instead of the call that is next: one that came later; the death of its process; another branch, with
 *  what was in the blocks that leave or without. */
type Deviation =
  | { readonly kind: "turn"; readonly call: number }
  | { readonly kind: "kill" }
  | { readonly kind: "reorg"; readonly depth: number; readonly loses: boolean };

/** A deviation, and at which step. */
type Departure = Deviation & { readonly step: number };

interface Share {
  /** How many a life has at most. */
  readonly deviations: number;
  /** Of the first deviations, those whose place is `from`, `from + stride` and so on, after the last from the beginning. */
  readonly from: number;
  readonly stride: number;
}

/** Lives without any deviation, with each one, and with each that may follow on it. */
export async function* explore(
  backend: Backend,
  { deviations, from, stride }: Share,
): AsyncGenerator<Lived, void> {
  let lives = 0;
  async function* liveBy(plan: readonly Departure[]): AsyncGenerator<Lived, void> {
    lives += 1;
    const { lived, departures } = await liveSmall(backend, lives, plan);
    yield lived;
    if (plan.length === deviations) return;
    for (const [place, next] of departures.entries())
      if (plan.length > 0 || place % stride === from % stride) yield* liveBy([...plan, next]);
  }
  yield* liveBy([]);
}

/** One life, and where it could have departed after its last departure. */
async function liveSmall(
  backend: Backend,
  life: number,
  plan: readonly Departure[],
): Promise<{ lived: Lived; departures: readonly Departure[] }> {
  await wipe(backend);
  const ground = await layGround(SEED, backend, { ...choices(SALES), chance: () => false });
  ground.faults.isOff = true;
  const departures: Departure[] = [];
  const lived = await liveOn(ground, life, async (it) => {
    ground.scheduler.note("plan", JSON.stringify(plan));
    await walk(it, plan, departures);
    if (plan.length === 0) expectPaid(it);
  });
  return { lived, departures };
}

/** The chain of every life, or hashes would sort otherwise. */
const SEED = 2;

/** By these choices two payers with money and time buy two things. */
const SALES = 4;

function expectPaid({ callers: { payments } }: Life): void {
  const told = payments.map(({ asked }) => asked.map(({ answer }) => answer?.outcome).join());
  if (told.join() !== "settled,settled")
    throw new Violation("no-bug", `nothing happened, and they are told ${told}`);
}

/** Blocks until one is final that came first after the payments. */
const BLOCKS = FINAL_AFTER + 2;

async function walk(life: Life, plan: readonly Departure[], departures: Departure[]): Promise<void> {
  const { scheduler, tree } = life.ground;
  life.startProcess();
  life.startProcess();
  const course = new Course(life);
  while (course.blocks < 2 || scheduler.ready().length > 0) await course.goOn();
  const begun = tree.tip.ref.number;
  for (const process of life.processes) life.callers.begin(process);
  const last = plan.at(-1)?.step ?? -1;
  for (let step = 0; course.blocks < 2 + BLOCKS || scheduler.ready().length > 0; step += 1) {
    await scheduler.quiet();
    if (step > last) departures.push(...deviations(life, begun).map((each) => ({ ...each, step })));
    const here = plan.find((departure) => departure.step === step);
    if (here) await depart(life, here);
    else await course.goOn();
  }
}

/** What is next: the call that came first, a block where something waits for it, somebody who wakes. */
class Course {
  blocks = 0;
  readonly #life: Life;
  #woken = 0;

  constructor(life: Life) {
    this.#life = life;
  }

  async goOn(): Promise<void> {
    const { scheduler } = this.#life.ground;
    const [first] = scheduler.ready();
    if (first) await scheduler.take(first);
    else await this.#pass();
    await scheduler.quiet();
    await this.#life.check();
  }

  async #pass(): Promise<void> {
    const { scheduler, tree } = this.#life.ground;
    const next = scheduler.sleepers.toSorted((a, b) => a.due - b.due)[0];
    if (next && tree.waiting.length === 0 && this.#woken < WAKES_PER_BLOCK) {
      this.#woken += 1;
      return scheduler.wake(next);
    }
    this.#woken = 0;
    this.blocks += 1;
    scheduler.now += BLOCK_MS;
    this.#life.world.mine(this.#life.processes);
  }
}

const BLOCK_MS = 2_000;
/** Every loop has turned twice by then. */
const WAKES_PER_BLOCK = 24;

/** A process dies between two of its calls; which two others it dies between is of no matter. So it is with a branch and
 *  what is asked of the chain. */
function deviations({ ground: { scheduler, tree } }: Life, begun: number): readonly Deviation[] {
  const ready = scheduler.ready();
  const [next] = ready;
  if (!next) return [];
  const turns = ready.slice(1).map((_, i) => ({ kind: "turn" as const, call: i + 1 }));
  const blocks = next.asks === "chain" ? tree.tip.ref.number - begun : 0;
  return [...turns, { kind: "kill" }, ...reorgs(Math.min(blocks, FINAL_AFTER - 1))];
}

function reorgs(deepest: number): readonly Deviation[] {
  const depths = Array.from({ length: deepest }, (_, i) => i + 1);
  return depths.flatMap((depth) => [true, false].map((loses) => ({ kind: "reorg" as const, depth, loses })));
}

async function depart(life: Life, deviation: Deviation): Promise<void> {
  const { scheduler } = life.ground;
  const ready = scheduler.ready();
  const [next] = ready;
  if (deviation.kind === "reorg") life.world.fork(deviation.depth, () => deviation.loses);
  if (deviation.kind === "turn") await scheduler.take(ready[deviation.call] as Call);
  if (deviation.kind === "kill") await kill(life, next?.owner as Process);
  await scheduler.quiet();
  await life.check();
}

/** Its leases lapse at once: the other one takes over while more may happen. */
async function kill(life: Life, process: Process): Promise<void> {
  await life.kill(process);
  life.ground.scheduler.now += LEASES_LAPSE_MS;
  if (life.processes.length === 0) life.startProcess();
}
