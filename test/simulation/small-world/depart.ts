/** Does what is out of the ordinary. */
import type { Payment } from "../actors/payments.ts";
import type { World } from "../actors/world.ts";
import type { Process } from "../parts/house.ts";
import { stranger } from "../parts/keys.ts";
import type { Call } from "../parts/scheduler.ts";
import { LEASES_LAPSE_MS, type Life } from "../seed.ts";
import type { Course } from "./course.ts";
import type { Deviation, Meddling } from "./deviations.ts";

type Of<Kind extends Deviation["kind"]> = Extract<Deviation, { kind: Kind }>;

export async function depart(life: Life, course: Course, deviation: Deviation): Promise<void> {
  await acts[deviation.kind](life, course, deviation as never);
  await life.ground.scheduler.quiet();
  await life.check();
}

const acts: {
  readonly [Kind in Deviation["kind"]]: (
    life: Life,
    course: Course,
    deviation: Of<Kind>,
  ) => void | Promise<void>;
} = {
  turn: ({ ground: { scheduler } }, _, { call }) => scheduler.take(scheduler.ready()[call] as Call),
  kill: (life) => kill(life, asking(life)),
  stall: (life, course) => stall(life, course, asking(life)),
  skew({ processes }, _, { process, ms }) {
    if (processes[process]) processes[process].skewMs = ms;
  },
  reorg: ({ world }, _, { depth, loses }) => world.fork(depth, () => loses),
  block,
  fault(life, course, { fault, blocks }) {
    life.ground.faults.sure.add(fault);
    course.last(blocks, () => life.ground.faults.sure.delete(fault));
  },
  async "refused-and-sent"(life, course) {
    await life.world.submitOurs();
    acts.fault(life, course, { kind: "fault", fault: "send-refused", blocks: 0 });
  },
  lag(life, course, { behind, blocks }) {
    const { view } = asking(life);
    view.behind = behind;
    course.last(blocks, () => {
      view.behind = 0;
    });
  },
  branch: followBranch,
  ask({ callers, processes }, _, { to, manner, payment, process }) {
    const [at, shown] = [processes[process], callers.payments[payment]];
    if (!at || !shown) return;
    if (to === "settle") callers.ask(at, shown, manner);
    else callers.verify(at, shown, manner);
  },
  "hang-up": ({ callers }, _, { caller }) => callers.waiting[caller]?.abort(),
};

function asking({ ground: { scheduler } }: Life): Process {
  return scheduler.ready()[0]?.owner as Process;
}

/** Its leases lapse at once: the other one takes over while more may happen. */
async function kill(life: Life, process: Process): Promise<void> {
  await life.kill(process);
  life.ground.scheduler.now += LEASES_LAPSE_MS;
  if (life.processes.length === 0) life.startProcess();
}

function stall({ ground: { scheduler } }: Life, course: Course, process: Process): void {
  process.isStalled = true;
  scheduler.now += LEASES_LAPSE_MS;
  scheduler.note(process.name, "stalls");
  course.last(BLOCKS_STALLED, () => {
    process.isStalled = false;
    scheduler.note(process.name, "goes on");
  });
}

/** By then another one has its lanes, and has sent something. */
const BLOCKS_STALLED = 2;

const meddle: Readonly<Record<Meddling, (world: World, payment: Payment) => void | Promise<void>>> = {
  "front-run": (world, it) => world.submit(it),
  cancel: (world, it) => world.cancel(it),
  drain: (world, it) => world.drain(it),
  "pay-less": (world, it) => world.signTwice(it, { value: it.terms.value / 2n }),
  "pay-another": (world, it) => world.signTwice(it, { payTo: stranger }),
  "gain-code": (world, it) => world.gainCode(it),
  "submit-ours": (world) => world.submitOurs(),
};

/** They give more than we do: theirs comes first. */
async function block(life: Life, course: Course, { by, payment, leaves }: Of<"block">): Promise<void> {
  const { tree, scheduler } = life.ground;
  const before = new Set(tree.waiting);
  const whose = life.callers.payments[payment] as Payment;
  scheduler.note(whose.name, by);
  await meddle[by](life.world, whose);
  const theirs = new Set(tree.waiting.filter((each) => !before.has(each)));
  tree.waiting = [...theirs, ...before];
  course.mine();
  if (leaves) course.last(1, () => life.world.fork(2, (transaction) => theirs.has(transaction)));
}

function followBranch(life: Life, course: Course): void {
  const { faults } = life.ground;
  const process = asking(life);
  faults.sure.add("forked-view");
  life.world.forkView(process);
  faults.sure.delete("forked-view");
  course.last(1, () => {
    process.view.side = null;
  });
}
