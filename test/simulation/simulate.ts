/** `npm run simulate`: seeds in as many processes as there are cores, or the mutants that they must catch. */
import { availableParallelism } from "node:os";
import { Command } from "commander";
import { startTestServer } from "../support/database-server.ts";
import { hunts, type Outcome, runFleet, STEPS_PER_KILL, split, stepsPerKill } from "./fleet.ts";
import { job } from "./job.ts";
import { mutants } from "./mutants/mutants.ts";
import { type FaultKind, faultKinds } from "./parts/faults.ts";
import type { Report } from "./worker.ts";

interface Options {
  readonly seeds: string;
  readonly from: string;
  readonly workers: string;
  readonly mutants: boolean | string;
  readonly deviations: string;
  readonly only?: string;
  readonly trace: boolean;
}

/** Every kind of fault strikes in one of so many seeds at least, or the simulation is broken: in 1,000 of 100,000. */
const SEEDS_PER_FAULT = 100;

/** How far it is, beside what it finds: told after so many seeds. */
const SEEDS_PER_WORD = 1_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

const {
  seeds,
  from,
  workers,
  mutants: which,
  deviations,
  only,
  trace,
} = new Command("simulate")
  .description("Lives seeds of the settlement engine's simulation and asks every oracle about each of them.")
  .option("--seeds <number>", "how many seeds, or how many at most per mutant", "1000")
  .option("--from <seed>", "the first of them", "1")
  .option("--workers <number>", "processes", `${availableParallelism()}`)
  .option(
    "--mutants [name]",
    "the engine with one thing wrong, each way in turn or the one that is named",
    false,
  )
  .option(
    "--deviations <number>",
    "instead of seeds a small world, with one thing out of the ordinary at each of its steps, or with each two",
    "0",
  )
  .option("--only <kinds>", "no faults but these, comma-separated, and these often")
  .option("--trace", "print what happened in each seed that failed", false)
  .parse()
  .opts<Options>();

const server = await startTestServer();
try {
  const names = which === true ? mutants.map(({ name }) => name) : which ? which.split(",") : null;
  const asked = job({
    server: server.url,
    from: Number(from),
    seeds: Number(seeds),
    deviations: Number(deviations),
    only: kindsOf(only),
  });
  const jobs = names ? hunts(asked, names) : split(asked, Number(workers));
  const began = performance.now();
  let lived = 0;
  const hear = (report: Report) => {
    if (report.kind === "seed") {
      lived += 1;
      if (lived % SEEDS_PER_WORD === 0) sayProgress(lived, (performance.now() - began) / 1000);
    }
    if (report.kind === "violation") sayViolation(report.seed, report.what, report.trace);
    if (report.kind === "mutant")
      say(
        `${report.oracle ? "caught" : "ALIVE "}  ${report.name.padEnd(34)} ${`${report.seeds}`.padStart(4)} seeds, to ${report.seed}  ${report.what}`,
      );
  };
  const outcome = await runFleet(jobs, hear, Number(workers));
  if (names) process.exitCode = outcome.mutants.every(({ oracle }) => oracle) ? 0 : 1;
  else if (deviations === "0") sum(outcome);
  else sumSmall(outcome);
} finally {
  await server.stop();
}

function kindsOf(list: string | undefined): readonly FaultKind[] | null {
  const named = list?.split(",") ?? null;
  const unknown = named?.find((each) => !faultKinds.some((kind) => kind === each));
  if (unknown) throw new Error(`${unknown} is no kind of fault: ${faultKinds.join(", ")}`);
  return named as FaultKind[] | null;
}

function sayProgress(lived: number, passed: number): void {
  const all = deviations === "0" ? `of ${seeds} seeds` : "lives";
  process.stderr.write(`${lived} ${all} in ${passed.toFixed(0)} s\n`);
}

function sayViolation(seed: number, what: string, steps: readonly string[]): void {
  say(`${deviations === "0" ? "seed" : "life"} ${seed}: ${what}`);
  if (trace) for (const step of steps) say(`  ${step}`);
}

function sumSmall({ seeds: lives, seconds, steps, violations }: Outcome): void {
  say(
    `${lives} lives with at most ${deviations} deviations in ${seconds.toFixed(1)} s, ${Math.round(steps / lives)} steps each`,
  );
  say(`${violations.length} violations`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

function sum(outcome: Outcome): void {
  const { seeds: lived, seconds, steps, stirred, faults, violations } = outcome;
  const each = (all: number) => Math.round(all / lived);
  const between = stepsPerKill(outcome);
  say(
    `${lived} seeds in ${seconds.toFixed(1)} s: ${(lived / seconds).toFixed(1)} per second, ${each(steps)} steps each;`,
  );
  say(
    `of these ${each(stirred)} in which things go wrong, and at one of ${between.toFixed(0)} a process is killed`,
  );
  say("    times    seeds");
  const struck = (kind: FaultKind) => faults.get(kind) ?? { times: 0, seeds: 0 };
  for (const kind of faultKinds)
    say(`${`${struck(kind).times}`.padStart(9)}${`${struck(kind).seeds}`.padStart(9)}  ${kind}`);
  // Those of `--only` strike alone.
  const least = only ? 0 : Math.floor(lived / SEEDS_PER_FAULT);
  const missing = faultKinds.filter((kind) => struck(kind).seeds < least);
  if (missing.length > 0) say(`struck in fewer than ${least} seeds: ${missing.join(", ")}`);
  say(`${violations.length} violations`);
  const isDense = least === 0 || (missing.length === 0 && between <= STEPS_PER_KILL);
  process.exitCode = violations.length === 0 && isDense ? 0 : 1;
}
