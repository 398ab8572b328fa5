/** A process that lives seeds, one after the other, on a database of its own; told by its parent which. */
import { TEMPLATE } from "../support/database-at.ts";
import type { Oracle } from "./oracles/violation.ts";
import { Backend } from "./parts/backend.ts";
import type { FaultKind } from "./parts/faults.ts";
import { takeOverRounds } from "./parts/scheduler.ts";
import { openShops, sweepUp, tidyUp } from "./parts/shop.ts";
import { dropDatabase, prepareDatabase } from "./parts/template.ts";
import { type Lived, live } from "./seed.ts";
import { explore } from "./small-world.ts";

export interface Job {
  readonly server: string;
  /** Lived ahead of the others. */
  readonly first: readonly number[];
  /** Lives `from`, `from + stride` and so on, so many. */
  readonly from: number;
  readonly stride: number;
  readonly seeds: number;
  /** How much longer the database takes for every answer. */
  readonly pauseMs: number;
  /** The worker's engine has this mistake: it lives seeds until an oracle speaks. */
  readonly mutant: string | null;
  /** Not seeds but the small world, with so many deviations: it lives those that are its share, and hears of no seed. */
  readonly deviations: number;
  /** The only kinds of fault that strike, often; null for each seed's own. */
  readonly only: readonly FaultKind[] | null;
}
export type Report =
  | {
      readonly kind: "seed";
      readonly seed: number;
      readonly steps: number;
      readonly stirred: number;
      readonly faults: readonly [FaultKind, number][];
      readonly mark: string;
    }
  | {
      readonly kind: "violation";
      readonly seed: number;
      readonly oracle: Oracle;
      readonly what: string;
      readonly trace: readonly string[];
    }
  | {
      readonly kind: "mutant";
      readonly name: string;
      /** The last one that it lived, and how many those were. */
      readonly seed: number;
      readonly seeds: number;
      readonly oracle: Oracle | null;
      readonly what: string;
    };

/** Rows are swept up after so many seeds. */
const SEEDS_PER_SWEEP = 100;

takeOverRounds();
// Nobody listens any more.
process.once("disconnect", () => process.exit(1));
process.once("message", (job: Job) => {
  work(job).then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});

function report(told: Report): void {
  process.send?.(told);
}

async function work(job: Job): Promise<void> {
  const database = `simulation_${process.pid}`;
  await prepareDatabase(job.server, TEMPLATE, database);
  await openShops(job.server, database);
  const backend = await Backend.open(job.server, database, job.pauseMs);
  try {
    if (job.mutant) await hunt(backend, job, job.mutant);
    else await liveMany(backend, job);
  } finally {
    await backend.close();
    await dropDatabase(job.server, database);
  }
}

async function* livesOf(backend: Backend, job: Job): AsyncGenerator<Lived, void> {
  if (job.deviations > 0) return yield* explore(backend, job);
  const { first, from, stride, seeds, only } = job;
  for (const seed of first) yield await live(seed, backend);
  for (let i = 0; i < seeds; i += 1) yield await live(from + i * stride, backend, only);
}

async function liveMany(backend: Backend, job: Job): Promise<void> {
  let lives = 0;
  for await (const lived of livesOf(backend, job)) {
    lives += 1;
    tell(lived);
    await tidyUp(backend);
    if (lived.violation || lives % SEEDS_PER_SWEEP === 0) await sweepUp(backend);
  }
}

function tell({ seed, steps, stirred, faults, violation, trace, mark }: Lived): void {
  report({ kind: "seed", seed, steps, stirred, faults: [...faults], mark });
  if (violation)
    report({ kind: "violation", seed, oracle: violation.oracle, what: violation.message, trace });
}

async function hunt(backend: Backend, job: Job, name: string): Promise<void> {
  let [seed, seeds] = [job.from, 0];
  for await (const lived of livesOf(backend, job)) {
    seeds += 1;
    seed = lived.seed;
    if (lived.violation) {
      const { oracle, message: what } = lived.violation;
      // A name that the engine no longer has there is found by any seed, and says nothing of the oracles.
      if (what.includes("ReferenceError")) throw new Error(`${name} no longer fits the engine: ${what}`);
      return report({ kind: "mutant", name, seed, seeds, oracle, what });
    }
    await tidyUp(backend);
    if (seeds % SEEDS_PER_SWEEP === 0) await sweepUp(backend);
  }
  report({ kind: "mutant", name, seed, seeds, oracle: null, what: "no oracle spoke" });
}
