/** Programs that we start, or find running, besides ourselves. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { RunAs } from "./identity.ts";

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly user: RunAs;
  /** Where it runs, and its HOME: a folder that its user can enter. */
  readonly cwd: string;
  readonly stdio: "ignore" | ["ignore" | "pipe", number, number];
}

/** The C library gives freed memory back to the system at once and asks for it again. A PostgreSQL backend does so for
 *  every statement with some lists, which then spends more time on it than on its rows. */
const KEEPS_MEMORY = {
  MALLOC_TRIM_THRESHOLD_: `${16 * 2 ** 20}`,
  MALLOC_TOP_PAD_: `${2 ** 20}`,
  MALLOC_MMAP_THRESHOLD_: `${4 * 2 ** 20}`,
};

/** Starts it in a session of its own, so that Ctrl-C in our terminal does not reach it, with none of our environment. */
export function start({ file, args, user, cwd, stdio }: Program): ChildProcess {
  const env = { PATH: "/usr/bin:/bin", HOME: cwd, LC_ALL: "C", TZ: "UTC", ...KEEPS_MEMORY };
  return spawn(file, args, { ...user, cwd, env, stdio, detached: true });
}

export interface Run {
  /** Goes to its standard input. */
  readonly input?: string | undefined;
  /** Ends it, and the programs that it started, before its end. */
  readonly until?: AbortSignal | undefined;
}

/** Runs it to its end; exit code, or 1 for a signal. */
export async function run(program: Program, { input, until }: Run = {}): Promise<number> {
  const child = start(program);
  const group = -(child.pid ?? 0); // the session's: what it started is in it
  const abort = () => group !== 0 && signal(group, "SIGTERM");
  until?.addEventListener("abort", abort);
  if (until?.aborted) abort();
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
    child.stdin?.on("error", (error) => !until?.aborted && reject(error));
    child.stdin?.end(input);
  });
  return ended.finally(() => until?.removeEventListener("abort", abort));
}

/** Alive and not a zombie: in a container without an init nobody reaps what lost its parent. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  if (process.platform !== "linux") return true;
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return stat !== undefined && stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z"; // undefined: reaped this moment
}

/** Its command line as one text, arguments separated by spaces; undefined where the system does not tell. */
export async function commandLine(pid: number): Promise<string | undefined> {
  const raw = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined);
  if (raw !== undefined) return raw.replaceAll("\0", " ").trim();
  const listed = await promisify(execFile)("ps", ["-p", String(pid), "-o", "args="]).catch(() => undefined);
  return listed?.stdout.trim();
}

/** SIGTERM, and SIGKILL when it does not end within `graceMs`. Returns when it is gone. */
export async function end(pid: number, graceMs = 4000): Promise<void> {
  signal(pid, "SIGTERM");
  if (await gone(pid, graceMs)) return;
  signal(pid, "SIGKILL");
  if (!(await gone(pid, 4000))) throw new Error(`process ${pid} does not end`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Waits until `pid` is gone; false when `withinMs` passed first. */
export async function gone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (await isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}
