/** Where the data of an embedded part lies: in the data folder, or in its twin when the part's user cannot get there. */
import { createHash } from "node:crypto";
import { chmod, chown, cp, mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canEnter, isRoot, partsUser, type RunAs } from "./identity.ts";
import { storedSecret } from "./master-secret.ts";

/** Reachable for everybody; written by root only. */
export const sharedRoot = "/var/lib/farebox";
const twinsRoot = join(sharedRoot, "data");

export interface Place {
  readonly dir: string;
  /** Owner of the folder: the user to run the part as. */
  readonly user: RunAs;
}

/** The folder of `part`, made when missing. Once chosen it stays: a twin that exists is used even if the way is free now. */
export async function placeData(dataDir: string, part: string): Promise<Place> {
  await mkdir(dataDir, { recursive: true });
  const real = await realpath(dataDir);
  const inPlace = join(real, part);
  if (!isRoot) return makeOwn(inPlace);
  const twin = join(twinsRoot, await twinName(real), part);
  if (await exists(twin)) return ownedBy(twin);
  if (canEnter(partsUser, real)) return makeOwn(inPlace);
  await makeReachable(dirname(twin));
  if (await exists(inPlace)) await move(inPlace, twin); // the way was closed after the first start
  return makeOwn(twin);
}

/** Existing folders of `part` for this data folder, for a reset; none is made. */
export async function existingPlaces(dataDir: string, part: string): Promise<Place[]> {
  if (!(await exists(dataDir))) return [];
  const dirs = [await realpath(dataDir), ...(await twins(dataDir))].map((dir) => join(dir, part));
  const places: Place[] = [];
  for (const dir of dirs) if (await exists(dir)) places.push(await ownedBy(dir));
  return places;
}

/** All twins that this path ever had. */
export async function twins(dataDir: string): Promise<string[]> {
  if (!isRoot || !(await exists(twinsRoot))) return [];
  const prefix = pathHash(await realpath(dataDir));
  return (await readdir(twinsRoot))
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(twinsRoot, name));
}

/** Path and folder: a copied folder has another path, and one deleted and made anew under the same path another id,
 *  so that neither meets a database whose password it does not know. */
async function twinName(realDataDir: string): Promise<string> {
  const id = await storedSecret(realDataDir, "folder-id");
  return `${pathHash(realDataDir)}-${id.slice(0, 8)}`;
}

function pathHash(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

async function makeOwn(dir: string): Promise<Place> {
  if (await exists(dir)) return ownedBy(dir);
  await mkdir(dir, { mode: 0o700 });
  const { uid, gid } = partsUser;
  if (uid !== undefined && gid !== undefined) await chown(dir, uid, gid);
  return { dir, user: partsUser };
}

/** As root: what an ordinary user began, that user goes on with; PostgreSQL takes no other. */
async function ownedBy(dir: string): Promise<Place> {
  if (!isRoot) return { dir, user: {} };
  const { uid, gid } = await stat(dir);
  if (uid !== 0) return { dir, user: { uid, gid } };
  await chown(dir, partsUser.uid ?? 0, partsUser.gid ?? 0); // killed between mkdir and chown
  return { dir, user: partsUser };
}

/** Makes the folder and its parents open to everybody, whatever the umask says. */
export async function makeReachable(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (let at = dir; at.startsWith(sharedRoot); at = dirname(at)) await chmod(at, 0o755);
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EXDEV") throw error;
    await copyOver(from, to);
  });
}

/** Another file system: copied aside with its owners, so that a kill in between leaves the original in charge. */
async function copyOver(from: string, to: string): Promise<void> {
  const aside = `${to}.moving`;
  await rm(aside, { recursive: true, force: true });
  await cp(from, aside, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  await takeOwners(from, aside);
  await rename(aside, to);
  await rm(from, { recursive: true, force: true });
}

async function takeOwners(from: string, to: string): Promise<void> {
  const { uid, gid, mode } = await stat(from);
  await chown(to, uid, gid);
  await chmod(to, mode & 0o7777);
  if (!(await stat(from)).isDirectory()) return;
  for (const name of await readdir(from)) await takeOwners(join(from, name), join(to, name));
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
