/** Data folders for tests: whatever runs on one is ended, and the folder and its twin removed, when the test is over. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { resetDataFolder } from "../../../src/dev/reset.ts";
import { say } from "./say.ts";

export { say } from "./say.ts";

/** The path of a data folder that is still to be made, below a folder with this mode. */
export async function dataFolder(parentMode = 0o755): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "farebox-test-"));
  await chmod(parent, parentMode);
  const dataDir = join(parent, "data");
  onTestFinished(async () => {
    await resetDataFolder({ dataDir, say });
    await rm(parent, { recursive: true, force: true });
  }, 30_000);
  return dataDir;
}
