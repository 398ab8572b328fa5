/** Where tests put what they throw away. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
/** What a whole run is given, bytes. */
const ROOM = 2 * 2 ** 30;

/** A folder in memory where the machine has one with room, else the usual one. Tests make and drop databases by the
 *  hundred, of hundreds of files each, and the file system of a disk may look through all that were deleted lately for
 *  each new one (ext4 does): a database took 0.4 s of processor time there, and 0.07 s in memory. What a killed run
 *  leaves behind stays in memory until `/dev/shm/farebox-*` is removed. */
export function scratch(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
