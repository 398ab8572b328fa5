/** `npm run reset`: ends what still runs for a data folder, and deletes the folder and its twin. */
import { readdir, realpath, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { relative, sep } from "node:path";
import { stopRecordedChain } from "./chain.ts";
import { existingPlaces, exists, twins } from "./data-place.ts";
import { folderHolder } from "./folder-claim.ts";
import { stopPostgresAt } from "./postgres.ts";

/** Names that show a folder to be a data folder of ours. */
const marks = ["folder-id", "master-secret", "dev.json", "chain.json", "service.json"];

export async function resetDataFolder({
  dataDir,
  say,
}: {
  dataDir: string;
  say: (line: string) => void;
}): Promise<void> {
  if (!(await exists(dataDir))) return say(`nothing to reset: ${dataDir} does not exist`);
  const real = await realpath(dataDir);
  await demandOurs(real);
  const holder = await folderHolder(real);
  if (holder !== undefined) throw new Error(`${dataDir} is in use by process ${holder}: stop it first`);
  await stopRecordedChain(real);
  for (const place of await existingPlaces(real, "postgres")) await stopPostgresAt(place, real, say);
  for (const twin of await twins(real)) await rm(twin, { recursive: true });
  await rm(real, { recursive: true });
  if (real !== dataDir) await rm(dataDir, { force: true }); // a symbolic link to it
  say(`removed ${dataDir}`);
}

/** FAREBOX_DATA may name any folder by mistake: a home, a checkout. Those are not deleted. */
async function demandOurs(real: string): Promise<void> {
  const isFolder = (await stat(real)).isDirectory();
  const names = isFolder ? await readdir(real) : [];
  const ours = isFolder && (names.length === 0 || marks.some((mark) => names.includes(mark)));
  const holdsMore = [process.cwd(), homedir()].some((dir) => isWithin(dir, real));
  if (!ours || holdsMore) throw new Error(`${real} does not look like a Farebox data folder: not removed`);
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`));
}
