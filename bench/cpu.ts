/** What a process used of the processor, as the kernel counts it. Linux only. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Of /proc: fixed at 100 on every architecture Linux runs Node on. */
const ticksPerSecond = 100;
const startOfUserTime = 11;

/** Seconds of user and system time of all threads of `pid` since it started. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name may hold spaces
  const [user, system] = fields.slice(startOfUserTime, startOfUserTime + 2).map(Number);
  if (user === undefined || system === undefined) throw new Error(`/proc/${pid}/stat has an unknown form`);
  return (user + system) / ticksPerSecond;
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
