/** Where our service's time went, phase by phase, out of the profile that Node writes at the end of the process. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { repository } from "./child.ts";

/** On the clock of the profile: microseconds since the machine started. */
export interface Phase {
  readonly what: string;
  readonly from: number;
  readonly to: number;
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shownFunctions = 25;
const shownPlaces = 15;

export function profileClock(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Markdown: share of the phase's busy time by file or package, and by function. */
export async function profileReport(dir: string, phases: readonly Phase[]): Promise<string> {
  // CPU.date.time.pid.thread.number: the main thread is 0, the loader has one of its own
  const isMain = (name: string) => /[.]\d+[.]0[.]\d+[.]cpuprofile$/.test(name);
  const newest = (await readdir(dir)).filter(isMain).sort().at(-1);
  if (!newest) return `no profile in ${dir}\n`;
  const profile = JSON.parse(await readFile(join(dir, newest), "utf8")) as CpuProfile;
  return phases.map((phase) => phaseReport(profile, phase)).join("\n");
}

function phaseReport(profile: CpuProfile, { what, from, to }: Phase): string {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  let at = profile.startTime;
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    const frame = frames.get(id);
    if (at < from || at > to || !frame || frame.functionName === "(idle)") continue;
    busy += delta;
    const place = placeOf(frame.url);
    add(
      functions,
      `${frame.functionName || "(anonymous)"} ${shorten(frame.url)}:${frame.lineNumber + 1}`,
      delta,
    );
    add(places, place || frame.functionName, delta);
  }
  const seconds = (to - from) / 1e6;
  const head = `### ${what}: busy ${(busy / 1e6).toFixed(2)} s of ${seconds.toFixed(2)} s`;
  return [head, "", ...top(places, busy, shownPlaces), "", ...top(functions, busy, shownFunctions), ""].join(
    "\n",
  );
}

function top(shares: ReadonlyMap<string, number>, busy: number, count: number): string[] {
  const sorted = [...shares].sort(([, a], [, b]) => b - a).slice(0, count);
  return sorted.map(([name, share]) => `- ${((share / busy) * 100).toFixed(1)}% ${name}`);
}

/** The package, or the file when it is ours. */
function placeOf(url: string): string {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(url)?.[1] ?? shorten(url);
}

function shorten(url: string): string {
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  return path.startsWith(repository) ? path.slice(repository.length) : path;
}

function add(into: Map<string, number>, key: string, value: number): void {
  into.set(key, (into.get(key) ?? 0) + value);
}
