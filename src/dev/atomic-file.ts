import { randomUUID } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";

/** Writes the whole file or nothing: aside, fsync, rename. A kill at any point leaves the old file or the new one. */
export async function writeAtomic(
  path: string,
  content: string | AsyncIterable<Buffer>,
  mode = 0o644,
): Promise<void> {
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(aside, "wx", mode);
    try {
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
