/** What the service takes in memory: all of it as the kernel counts it, and what its heap held on to after full
 *  collections. */
import { readFile } from "node:fs/promises";

/** Has V8 write a line to the log after each full collection. */
export const TELLS_OF_COLLECTIONS = ["--trace-gc", "--trace-gc-ignore-scavenger"];

const COLLECTION = /^\[\d+:\w+\]\s+(\d+) ms: Mark-Compact\D+[\d.]+ \([\d.]+\) -> ([\d.]+) /gm;

/** Megabytes in memory; 0 for a process that is gone. */
export async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024);
}

/** The least the heap came down to, in megabytes, in each span of `seconds` in which there was a full collection. */
export function leastHeaps(log: string, seconds: number): number[] {
  const least = new Map<number, number>();
  for (const [, atMs, mb] of log.matchAll(COLLECTION)) {
    const span = Math.floor(Number(atMs) / 1_000 / seconds);
    least.set(span, Math.min(least.get(span) ?? Number.POSITIVE_INFINITY, Math.round(Number(mb))));
  }
  return [...least.values()];
}
