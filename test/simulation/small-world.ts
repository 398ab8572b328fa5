/** Two payments at two processes on a calm chain: the same few hundred steps each time. At each of them one thing may be
 *  out of the ordinary, and once it was, another one at each that follows: nothing here is left to chance. */
import { hash } from "#kernel/bytes";
import { type Choices, choices } from "../property/payments/random.ts";
import { signed } from "./actors/payments.ts";
import { Violation } from "./oracles/violation.ts";
import type { Backend } from "./parts/backend.ts";
import { layGround } from "./parts/ground.ts";
import type { Process } from "./parts/house.ts";
import { payers, treasury } from "./parts/keys.ts";
import { FINAL_AFTER, LIKINGS } from "./parts/node.ts";
import { wipe } from "./parts/shop.ts";
import { type Life, type Lived, liveOn } from "./seed.ts";
import { Course } from "./small-world/course.ts";
import { depart } from "./small-world/depart.ts";
import { type Departure, deviations } from "./small-world/deviations.ts";

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
  const ground = await layGround(SEED, backend, { chance: calmChoices() });
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

/** Nothing happens by chance, and miners take what came first. */
function calmChoices(): Choices {
  const made = choices(SEED);
  return { ...made, chance: () => false, below: (limit) => (limit === LIKINGS ? 0 : made.below(limit)) };
}

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
  sign(life);
  course.begin = () => ask(life);
  const last = plan.at(-1)?.step ?? -1;
  const goesOn = () => course.blocks < 2 + BLOCKS || scheduler.ready().length > 0 || !course.isOrdinary;
  for (let step = 0; goesOn(); step += 1) {
    await scheduler.quiet();
    if (step > last) departures.push(...deviations(life, course, begun).map((each) => ({ ...each, step })));
    const here = plan.find((departure) => departure.step === step);
    if (here) await depart(life, course, here);
    else await course.goOn();
  }
  verifyAll(life);
  while (scheduler.ready().length > 0) await course.goOn();
}

/** A forgery that was seen must not stand in the way of the payment itself. */
function verifyAll({ callers, processes }: Life): void {
  for (const at of processes) for (const payment of callers.payments) callers.verify(at, payment, "plain");
}

/** Two who sign with the same nonce: one for long, and with an id of its own; one for what is sold once. */
function sign({ ground, callers: { payments } }: Life): void {
  const [cheap, , , once] = ground.sales;
  const [first, , second] = payers;
  if (!cheap || !once || !first || !second) throw new Error("nobody buys anything");
  const buys = [
    { payer: first, sale: cheap, seconds: 120, idempotencyKey: "key of the first" },
    { payer: second, sale: once, seconds: 45, idempotencyKey: null },
  ];
  for (const [i, { seconds, ...what }] of buys.entries()) {
    const validBefore = BigInt(ground.tree.tip.ref.timestamp + seconds);
    const terms = { payTo: treasury, value: what.sale.amount, validAfter: 0n, validBefore, nonce: NONCE };
    payments.push(signed(ground, { name: `p${i + 1}`, ...what, terms }));
  }
}

const NONCE = hash(`0x${"0".repeat(63)}1`);

function ask({ callers, processes }: Life): void {
  for (const [i, payment] of callers.payments.entries())
    callers.ask(processes[i] as Process, payment, payment.idempotencyKey ? "with-id" : "plain");
}
