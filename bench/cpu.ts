/** What processes used of the processor and of the memory, as the kernel counts it. Linux only. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Of /proc: 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

interface Stat {
  readonly parent: number;
  readonly seconds: number;
  /** Of children that ended and were waited for. */
  readonly endedChildren: number;
}

/** Seconds of user and system time of all threads of `pid` since it started. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await stat(pid)).seconds;
}

/** The same, with its children, ended ones too: PostgreSQL answers each connection in a process of its own. */
export async function familyCpuSeconds(pid: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const each = await Promise.all(pids.map(async (one) => ({ one, stat: await stat(one).catch(() => null) })));
  const family = each.filter(({ one, stat }) => one === pid || stat?.parent === pid);
  return family.reduce(
    (sum, { one, stat }) => sum + (stat?.seconds ?? 0) + (one === pid ? (stat?.endedChildren ?? 0) : 0),
    0,
  );
}

/** The most that `pid` has held in memory at once, MB. */
export async function peakMegabytes(pid: number): Promise<number> {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has an unknown form`);
  return Number(kilobytes) / 1024;
}

/** Waits until the processes together use under a fifth of a core, `withinMs` at most. */
export async function quiet(pids: readonly number[], withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  const windowMs = 500;
  let before = await total(pids);
  for (;;) {
    await sleep(windowMs);
    const now = await total(pids);
    if (now - before <= windowMs / 5000 || performance.now() > deadline) return;
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
  const field = (index: number) => {
    const value = Number(fields[index]);
    if (!Number.isFinite(value)) throw new Error(`/proc/${pid}/stat has an unknown form`);
    return value;
  };
  return {
    parent: field(1),
    seconds: (field(11) + field(12)) / ticksPerSecond,
    endedChildren: (field(13) + field(14)) / ticksPerSecond,
  };
}
