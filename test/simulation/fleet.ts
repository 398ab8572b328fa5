/** Workers, each with its share of the seeds. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FaultKind } from "./parts/faults.ts";
import type { Job, Report } from "./worker.ts";

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
  readonly seconds: number;
  readonly faults: ReadonlyMap<FaultKind, Strikes>;
  readonly violations: readonly ViolationReport[];
  readonly mutants: readonly MutantReport[];
  /** What each seed did, in short. */
  readonly marks: ReadonlyMap<number, string>;
}

/** Runs one worker per job. Rejects when a worker fails; what simulations find is in the outcome. */
export async function runFleet(
  jobs: readonly Job[],
  hear: (report: Report) => void = () => {},
): Promise<Outcome> {
  const began = performance.now();
  const reports: Report[] = [];
  const note = (report: Report) => {
    reports.push(report);
    hear(report);
  };
  await Promise.all(jobs.map((job) => runWorker(job, note)));
  const lived = reports.filter((report) => report.kind === "seed");
  const faults = new Map<FaultKind, Strikes>();
  for (const [kind, count] of lived.flatMap((each) => each.faults)) {
    const { times, seeds } = faults.get(kind) ?? { times: 0, seeds: 0 };
    faults.set(kind, { times: times + count, seeds: seeds + 1 });
  }
  return {
    seeds: lived.length,
    steps: lived.reduce((sum, { steps }) => sum + steps, 0),
    seconds: (performance.now() - began) / 1000,
    faults,
    violations: reports.filter((report) => report.kind === "violation"),
    mutants: reports.filter((report) => report.kind === "mutant"),
    marks: new Map(lived.map(({ seed, mark }) => [seed, mark])),
  };
}

async function runWorker(job: Job, note: (report: Report) => void): Promise<void> {
  const worker = fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), {
    // Most of what a step leaves behind is young: room for it costs less than to look through it often.
    execArgv: ["--max-semi-space-size=32", "--import", "tsx"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  worker.on("message", note);
  const ended = once(worker, "exit");
  worker.send(job);
  const [code] = await ended;
  if (code !== 0) throw new Error(`a simulation worker ended with ${code}`);
}

/** The same job, split by seeds or by mutants. */
export function split(job: Job, workers: number): readonly Job[] {
  const share = (all: number, i: number) => Math.max(0, Math.ceil((all - i) / workers));
  return Array.from({ length: workers }, (_, i) => ({
    ...job,
    ...(job.mutants
      ? {}
      : {
          from: job.from + i,
          stride: workers,
          seeds: share(job.seeds, i),
        }),
    mutants: job.mutants?.filter((_name, at) => at % workers === i) ?? null,
  }));
}
