/** What a PostgreSQL data folder tells about the server that runs on it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine, isAlive } from "./processes.ts";

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** The server that runs on `cluster` and takes connections; undefined when none does. Waits while one starts or stops. */
export async function runningPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { pid, port, state } = await pidFile(cluster);
    if (pid === undefined || !(await isServerOf(cluster, pid))) return undefined;
    if (state === "ready" && port !== undefined) return { pid, port };
    if (performance.now() > deadline)
      throw new Error(`PostgreSQL ${pid} on ${cluster} neither starts nor stops`);
    await sleep(100);
  }
}

interface PidFile {
  readonly pid?: number | undefined;
  readonly port?: number | undefined;
  readonly state?: string | undefined;
}

/** Lines 1, 4 and 8 of postmaster.pid. */
async function pidFile(cluster: string): Promise<PidFile> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return {};
  const lines = text.split("\n").map((line) => line.trim());
  return { pid: positive(lines[0]), port: positive(lines[3]), state: lines[7] };
}

function positive(text: string | undefined): number | undefined {
  return text && /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

/** After a reboot the recorded pid may be anybody's: the command line has to name the data folder. */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  const line = await commandLine(pid);
  return line === undefined || line.includes(cluster);
}
