/** A disk in memory that a test may fill: root on Linux may mount one, others go without. */
import { type ExecFileException, execFile } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Place } from "../../src/dev/data-place.ts";

export interface SmallDisk {
  /** Not a byte is left on it. */
  fill(): Promise<void>;
  /** As before it was filled. */
  empty(): Promise<void>;
  unmount(): Promise<void>;
}

const run = promisify(execFile);
const BLOCK = Buffer.alloc(1 << 20);

/** Mounted over the folder of a part, for its user; null where that is not allowed. */
export async function mountSmallDisk({ dir, user }: Place, megabytes: number): Promise<SmallDisk | null> {
  const owner = user.uid === undefined ? "" : `,uid=${user.uid},gid=${user.gid}`;
  const options = `size=${megabytes}m,mode=700${owner}`;
  const isMounted = await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", dir]).then(
    () => true,
    (_: ExecFileException) => false,
  );
  if (!isMounted) return null;
  const ballast = join(dir, "ballast");
  return {
    async fill() {
      const file = await open(ballast, "w");
      try {
        for (let size = BLOCK.length; size > 0; size >>= 1) await writeWhileThereIsRoom(file, size);
      } finally {
        await file.close();
      }
    },
    empty: () => rm(ballast, { force: true }),
    unmount: async () => void (await run("umount", [dir])),
  };
}

async function writeWhileThereIsRoom(file: Awaited<ReturnType<typeof open>>, size: number): Promise<void> {
  const block = BLOCK.subarray(0, size);
  try {
    for (;;) await file.writeFile(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
