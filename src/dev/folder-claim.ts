/** One service at a time on a data folder: a second one would take over, and at its end stop, what the first one uses. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomic } from "./atomic-file.ts";
import { commandLine, isAlive } from "./processes.ts";

const Claim = z.object({ pid: z.int().positive(), mark: z.string() });

/** Throws when another living process holds the folder, and where nothing can be written. A claim left by a kill -9 counts for nothing. */
export async function claimFolder(dataDir: string): Promise<{ release(): Promise<void> }> {
  const holder = await folderHolder(dataDir);
  if (holder !== undefined) throw new Error(`${dataDir} is in use by process ${holder}`);
  const path = claimPath(dataDir);
  const claim = { pid: process.pid, mark: await markOf(process.pid) };
  try {
    await mkdir(dataDir, { recursive: true });
    await writeAtomic(path, `${JSON.stringify(claim)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `Nothing can be kept in ${dataDir} (${code}). Set FAREBOX_DATA to a folder that this user may write in.`,
      { cause: error },
    );
  }
  return { release: () => rm(path, { force: true }) };
}

/** The other process that holds the folder, if any. */
export async function folderHolder(dataDir: string): Promise<number | undefined> {
  const text = await readFile(claimPath(dataDir), "utf8").catch(() => "null");
  const claim = Claim.safeParse(JSON.parse(text)).data;
  if (!claim || claim.pid === process.pid || !(await isAlive(claim.pid))) return undefined;
  return (await markOf(claim.pid)) === claim.mark ? claim.pid : undefined;
}

/** What tells a process from a later one with the same pid: when it started, or at least its command line. */
async function markOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const startedAt = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return startedAt ?? (await commandLine(pid)) ?? "";
}

function claimPath(dataDir: string): string {
  return join(dataDir, "service.json");
}
