/** Workers, each with its share of the seeds. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { bundleWorker } from "./mutants/bundle.ts";
import { mutants } from "./mutants/mutants.ts";
import type { FaultKind } from "./parts/faults.ts";
import type { Job, Report } from "./worker.ts";

/** How willingly a worker gives way, of 19 at most. */
const POLITE = 10;

export type ViolationReport = Extract<Report, { kind: "violation" }>;
export type MutantReport = Extract<Report, { kind: "mutant" }>;

/** How often a kind of fault struck, and in how many seeds. */
export interface Strikes {
  readonly times: number;
  readonly seeds: number;
}

export interface Outcome {
  readonly seeds: number;
  readonly steps: number;
  /** While things went wrong. */
  readonly stirred: number;
  readonly seconds: number;
  readonly faults: ReadonlyMap<FaultKind, Strikes>;
  readonly violations: readonly ViolationReport[];
  readonly mutants: readonly MutantReport[];
  /** What each seed did, in short. */
  readonly marks: ReadonlyMap<number, string>;
}

/** Of every so many steps in which things go wrong a process must be killed at one, or hardly any course is cut short where
 *  it hurts. */
export const STEPS_PER_KILL = 50;

/** Steps between two kills. */
export function stepsPerKill({ stirred, faults }: Outcome): number {
  const times = (kind: FaultKind) => faults.get(kind)?.times ?? 0;
  return stirred / (times("kill") + times("kill-in-transaction"));
}

/** Runs one worker per job, `atOnce` of them at a time. Rejects when a worker fails; what simulations find is in the
 *  outcome. */
export async function runFleet(
  jobs: readonly Job[],
  hear: (report: Report) => void = () => {},
  atOnce = jobs.length,
): Promise<Outcome> {
  const began = performance.now();
  const reports: Report[] = [];
  const note = (report: Report) => {
    reports.push(report);
    hear(report);
  };
  const waiting = [...jobs];
  const runNext = async (): Promise<void> => {
    const next = waiting.shift();
    if (!next) return;
    await runWorker(next, note);
    await runNext();
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return summed(reports, (performance.now() - began) / 1000);
}

function summed(reports: readonly Report[], seconds: number): Outcome {
  const lived = reports.filter((report) => report.kind === "seed");
  const faults = new Map<FaultKind, Strikes>();
  for (const [kind, count] of lived.flatMap((each) => each.faults)) {
    const { times, seeds } = faults.get(kind) ?? { times: 0, seeds: 0 };
    faults.set(kind, { times: times + count, seeds: seeds + 1 });
  }
  return {
    seeds: lived.length,
    steps: lived.reduce((sum, { steps }) => sum + steps, 0),
    stirred: lived.reduce((sum, { stirred }) => sum + stirred, 0),
    seconds,
    faults,
    violations: reports.filter((report) => report.kind === "violation"),
    mutants: reports.filter((report) => report.kind === "mutant"),
    marks: new Map(lived.map(({ seed, mark }) => [seed, mark])),
  };
}

async function runWorker(job: Job, note: (report: Report) => void): Promise<void> {
  const worker = fork(await bundleWorker(job.mutant), {
    // Most of what a step leaves behind is young: room for it costs less than to look through it often. And all that it
    // runs, it runs thousands of times: to learn from the first call on spares an eighth of six hundred seeds.
    execArgv: ["--max-semi-space-size=32", "--no-lazy-feedback-allocation"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  // Nobody waits for a seed, and other tests wait for seconds.
  if (worker.pid !== undefined) setPriority(worker.pid, POLITE);
  worker.on("message", note);
  const ended = once(worker, "exit");
  worker.send(job);
  const [code] = await ended;
  if (code !== 0) throw new Error(`a simulation worker ended with ${code}`);
}

/** The same job, its seeds split. */
export function split(job: Job, workers: number): readonly Job[] {
  const share = (i: number) => Math.max(0, Math.ceil((job.seeds - i) / workers));
  return Array.from({ length: workers }, (_, i) => ({
    ...job,
    first: job.first.filter((_, place) => place % workers === i),
    from: job.from + i,
    stride: workers,
    seeds: share(i),
  }));
}

/** A job for each mutant: from the seed that caught it on. */
export function hunts(job: Job, names: readonly string[]): readonly Job[] {
  return mutants
    .filter(({ name }) => names.includes(name))
    .map(({ name, seed, only }) => ({
      ...job,
      mutant: name,
      only: only ?? null,
      from: job.deviations > 0 ? job.from : seed,
    }));
}
