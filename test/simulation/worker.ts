/** A process that lives seeds, one after the other, on a database of its own; told by its parent which. */
import { register } from "node:module";
import { createFacilitator } from "#facilitator";
import { TEMPLATE } from "../support/database-server.ts";
import { mutants } from "./mutants/mutants.ts";
import type { Oracle } from "./oracles/violation.ts";
import { Backend } from "./parts/backend.ts";
import type { FaultKind } from "./parts/faults.ts";
import { takeOverRounds } from "./parts/scheduler.ts";
import { openShops, sweepUp } from "./parts/shop.ts";
import { dropDatabase, prepareDatabase } from "./parts/template.ts";
import { type Lived, live } from "./seed.ts";

export interface Job {
  readonly server: string;
  /** Lives `from`, `from + stride` and so on, so many. */
  readonly from: number;
  readonly stride: number;
  readonly seeds: number;
  /** How much longer the database takes for every answer. */
  readonly pauseMs: number;
  /** Instead: these mutants, each from its seed on until it is caught. */
  readonly mutants: readonly string[] | null;
}
export type Report =
  | {
      readonly kind: "seed";
      readonly seed: number;
      readonly steps: number;
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

/** Rows are swept up after so many seeds: that takes as long as a tenth of one, and what oracles read grows until then. */
const SEEDS_PER_SWEEP = 25;

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
    if (job.mutants) await hunt(backend, job, job.mutants);
    else await liveMany(backend, job);
  } finally {
    await backend.close();
    await dropDatabase(job.server, database);
  }
}

async function liveMany(backend: Backend, { from, stride, seeds }: Job): Promise<void> {
  for (let i = 0; i < seeds; i += 1) {
    const lived = await live(from + i * stride, backend, createFacilitator);
    tell(lived);
    if (lived.violation || i % SEEDS_PER_SWEEP === SEEDS_PER_SWEEP - 1) await sweepUp(backend);
  }
}

function tell({ seed, steps, faults, violation, trace, mark }: Lived): void {
  report({ kind: "seed", seed, steps, faults: [...faults], mark });
  if (violation)
    report({ kind: "violation", seed, oracle: violation.oracle, what: violation.message, trace });
}

/** Each mutant lives seeds until an oracle speaks. */
async function hunt(backend: Backend, { from, seeds }: Job, names: readonly string[]): Promise<void> {
  register("./mutants/hooks.ts", import.meta.url, { data: mutants });
  for (const { name, seed: first } of mutants.filter((each) => names.includes(each.name))) {
    const wrong: { createFacilitator: typeof createFacilitator } = await import(
      `../../facilitator/create.ts?mutant=${name}`
    );
    report({
      kind: "mutant",
      name,
      ...(await catchIt(backend, wrong.createFacilitator, first ?? from, seeds)),
    });
    await sweepUp(backend);
  }
}

async function catchIt(backend: Backend, create: typeof createFacilitator, first: number, most: number) {
  for (let seed = first; seed < first + most; seed += 1) {
    const { violation } = await live(seed, backend, create);
    const seeds = seed - first + 1;
    if (violation) return { seed, seeds, oracle: violation.oracle, what: violation.message };
    if (seed % SEEDS_PER_SWEEP === 0) await sweepUp(backend);
  }
  return { seed: first + most - 1, seeds: most, oracle: null, what: "no oracle spoke" };
}
