/** The servers under test: processes of their own, with none of our environment. */
import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildPrograms, dist, nodeEnv, nodeFlags } from "../src/build.ts";
import { end, isAlive } from "../src/dev/processes.ts";

export const repository = fileURLToPath(new URL("..", import.meta.url));

export interface ChildOptions {
  readonly name: string;
  /** The program's source, from the repository's root, and its arguments. */
  readonly args: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers 200 once the server takes work. */
  readonly readyUrl: string;
  readonly logFile: string;
  /** HOME, for whatever asks for one. */
  readonly home: string;
  readonly readyWithinMs?: number;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Builds and starts the program, and returns when it answers. Throws with the end of its log when it ends first. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, args, nodeOptions = [], env = {}, readyUrl, logFile, home, readyWithinMs = 30_000 } = options;
  const [source = "", ...rest] = args;
  await buildPrograms({ [name]: source });
  const output = await open(logFile, "w");
  const child = spawn(process.execPath, [...nodeFlags, ...nodeOptions, join(dist, `${name}.mjs`), ...rest], {
    cwd: repository,
    env: { PATH: "/usr/bin:/bin", HOME: home, NODE_ENV: "production", ...nodeEnv, ...env },
    stdio: ["ignore", output.fd, output.fd],
  });
  await output.close();
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} does not start`);
  const deadline = performance.now() + readyWithinMs;
  while (!(await answers(readyUrl))) {
    if (!(await isAlive(pid))) throw new Error(`${name} ended:\n${await tail(logFile)}`);
    if (performance.now() > deadline) {
      await end(pid);
      throw new Error(`${name} is not ready:\n${await tail(logFile)}`);
    }
    await sleep(100);
  }
  return { name, pid, stop: () => end(pid, 8000) };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

async function tail(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-20).join("\n");
}
