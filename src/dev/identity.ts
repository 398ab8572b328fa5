/** Who runs the embedded parts, and what that user can reach. */
import { spawnSync } from "node:child_process";

/** Empty for "as ourselves". */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

const nobody: RunAs = { uid: 65534, gid: 65534 };

export const isRoot = process.getuid?.() === 0;

/** PostgreSQL refuses to run as root, and a chain node has no need to: as root both run as nobody. */
export const partsUser: RunAs = isRoot ? nobody : {};

/** Whether that user can enter the folder. Asked of the system, not read from mode bits: it also knows ACLs and mounts. */
export function canEnter(user: RunAs, dir: string): boolean {
  if (user.uid === undefined) return true;
  return (
    spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", dir], { ...user, cwd: "/", stdio: "ignore" }).status === 0
  );
}
