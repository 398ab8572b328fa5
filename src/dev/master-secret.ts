import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The data folder's master secret, 64 hex digits; made at the first call. */
export function masterSecret(dataDir: string): Promise<string> {
  return storedSecret(dataDir, "master-secret");
}

/** A random secret kept in a 0600 file of the data folder. Two processes that make it at once agree on one. */
export async function storedSecret(dataDir: string, name: string): Promise<string> {
  const path = join(dataDir, name);
  const kept = await readSecret(path);
  if (kept !== undefined) return kept;
  await mkdir(dataDir, { recursive: true });
  const aside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await writeFile(aside, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flush: true });
  await link(aside, path).catch(ignoreExisting); // unlike rename, link never replaces what somebody else made
  await rm(aside);
  const made = await readSecret(path);
  if (made === undefined) throw new Error(`cannot keep ${path}`);
  return made;
}

async function readSecret(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const secret = text.trim();
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error(`${path} does not hold 64 hex digits`);
  return secret;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
