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

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
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

/** Markdown: shares of the phase's busy time, by file or package, by function, and with all that they called by
 *  functions of ours. */
export async function profileReport(dir: string, phases: readonly Phase[]): Promise<string> {
  // CPU.date.time.pid.thread.number: the main thread is 0, the loader has one of its own
  const isMain = (name: string) => /[.]\d+[.]0[.]\d+[.]cpuprofile$/.test(name);
  const newest = (await readdir(dir)).filter(isMain).sort().at(-1);
  if (!newest) return `no profile in ${dir}\n`;
  const profile = JSON.parse(await readFile(join(dir, newest), "utf8")) as CpuProfile;
  const stacks = stacksOf(profile);
  return phases.map((phase) => phaseReport(profile, stacks, phase)).join("\n");
}

/** Frames of each node, the innermost first. */
function stacksOf({ nodes }: CpuProfile): ReadonlyMap<number, readonly Frame[]> {
  const stacks = new Map<number, readonly Frame[]>();
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  for (const { id, callFrame } of nodes) {
    const parent = parents.get(id); // parents stand before their children
    stacks.set(id, [callFrame, ...((parent !== undefined && stacks.get(parent)) || [])]);
  }
  return stacks;
}

function phaseReport(
  profile: CpuProfile,
  stacks: ReadonlyMap<number, readonly Frame[]>,
  { what, from, to }: Phase,
): string {
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  const callers = new Map<string, number>();
  let at = profile.startTime;
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    const stack = stacks.get(id) ?? [];
    const [frame] = stack;
    if (at < from || at > to || !frame || frame.functionName === "(idle)") continue;
    busy += delta;
    add(functions, nameOf(frame), delta);
    add(places, placeOf(frame.url) || frame.functionName, delta);
    for (const caller of new Set(stack.filter(isOurs).map(nameOf))) add(callers, caller, delta);
  }
  const head = `### ${what}: busy ${(busy / 1e6).toFixed(2)} s of ${((to - from) / 1e6).toFixed(2)} s`;
  return [
    head,
    "",
    "by place:",
    ...top(places, busy, shownPlaces),
    "",
    "by function:",
    ...top(functions, busy, shownFunctions),
    "",
    "ours, with all they called:",
    ...top(callers, busy, shownFunctions),
    "",
  ].join("\n");
}

function nameOf({ functionName, url, lineNumber }: Frame): string {
  return `${functionName || "(anonymous)"} ${shorten(url)}:${lineNumber + 1}`;
}

function isOurs({ url }: Frame): boolean {
  return url.startsWith("file:") && !url.includes("node_modules");
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
