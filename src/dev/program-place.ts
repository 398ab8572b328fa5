/** Where the programs of an embedded part are run from: node_modules, or a copy when that cannot be used. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, chmod, cp, lstat, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exists, makeReachable, sharedRoot } from "./data-place.ts";
import { canEnter, isRoot, type RunAs } from "./identity.ts";

export interface Programs {
  /** Folder of the npm package. */
  readonly source: string;
  /** Name and version: a copy is made once per version. */
  readonly name: string;
  /** Paths in the package that must be executable. */
  readonly executables: readonly string[];
  /** Symbolic links that npm packages cannot carry: link → what it points to, both as paths in the package. */
  readonly links: ReadonlyMap<string, string>;
}

/** A folder with the package's content that `user` can run from. */
export async function placePrograms(programs: Programs, user: RunAs, dataDir: string): Promise<string> {
  await repair(programs.source, programs).catch(() => undefined); // not ours to write: judged by the next line
  if (await usable(programs.source, programs, user)) return programs.source;
  const home = isRoot ? join(sharedRoot, "programs") : join(dataDir, "programs");
  const copy = join(home, programs.name);
  if (!(await exists(copy))) await copyPrograms(programs, copy);
  if (await usable(copy, programs, user)) return copy;
  throw new Error(`cannot run ${programs.name}: neither from ${programs.source} nor from ${copy}`);
}

/** Does what npm leaves undone without install scripts. */
async function repair(dir: string, { executables, links }: Programs): Promise<void> {
  for (const file of executables) {
    const { mode } = await stat(join(dir, file));
    if ((mode & 0o111) !== 0o111) await chmod(join(dir, file), 0o755);
  }
  for (const [link, target] of links) {
    if (await exists(join(dir, link))) continue;
    await rm(join(dir, link), { force: true }); // a link that points nowhere
    await symlink(relative(dirname(link), target), join(dir, link)).catch(ignoreExisting);
  }
}

async function usable(dir: string, { executables, links }: Programs, user: RunAs): Promise<boolean> {
  for (const file of executables) if (!(await isExecutable(join(dir, file)))) return false;
  for (const link of links.keys()) if (!(await exists(join(dir, link)))) return false;
  if (user.uid === undefined) return true;
  return canEnter(user, dir) && (await openToAll(dir));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Every folder can be entered and every file be read by others; a strict umask at install time forbids it. */
async function openToAll(dir: string): Promise<boolean> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isSymbolicLink()) continue;
    const needed = entry.isDirectory() ? 0o005 : 0o004;
    if (((await lstat(path)).mode & needed) !== needed) return false;
    if (entry.isDirectory() && !(await openToAll(path))) return false;
  }
  return true;
}

/** Aside and renamed: a folder that is there is complete. */
async function copyPrograms(programs: Programs, copy: string): Promise<void> {
  if (isRoot) await makeReachable(dirname(copy));
  else await mkdir(dirname(copy), { recursive: true });
  const aside = `${copy}.${randomUUID()}`;
  try {
    await cp(programs.source, aside, { recursive: true, verbatimSymlinks: true });
    await openUp(aside);
    await repair(aside, programs);
    await rename(aside, copy);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(await exists(copy))) throw error; // else somebody else was faster
  }
}

async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
