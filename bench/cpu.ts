/** What processes used of the processor, as the kernel counts it. Linux only. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Of /proc: 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

interface Stat {
  readonly parent: number;
  readonly seconds: number;
}

/** Seconds of user and system time of all threads of `pid` since it started. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await stat(pid)).seconds;
}

/** The same, with its children that live: PostgreSQL answers each connection in a process of its own. */
export async function familyCpuSeconds(pid: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const each = await Promise.all(pids.map(async (one) => ({ one, stat: await stat(one).catch(() => null) })));
  const family = each.filter(({ one, stat }) => one === pid || stat?.parent === pid);
  return family.reduce((sum, { stat }) => sum + (stat?.seconds ?? 0), 0);
}

/** Waits until the processes together use under a tenth of a core, `withinMs` at most. */
export async function quiet(pids: readonly number[], withinMs = 6000): Promise<void> {
  const deadline = performance.now() + withinMs;
  const windowMs = 500;
  let before = await total(pids);
  for (;;) {
    await sleep(windowMs);
    const now = await total(pids);
    if (now - before <= windowMs / 10_000 || performance.now() > deadline) return;
    before = now;
  }
}

async function total(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuSeconds));
  return each.reduce((sum, seconds) => sum + seconds, 0);
}

async function stat(pid: number): Promise<Stat> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before it may hold spaces
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  if (parent === undefined || user === undefined || system === undefined)
    throw new Error(`/proc/${pid}/stat has an unknown form`);
  return { parent, seconds: (user + system) / ticksPerSecond };
}
