/** The service's programs as operators run them, and the one that tests can kill, and the contracts; built once per run,
 *  before whatever starts them. */
import { join } from "node:path";
import { loadArtifacts } from "../../contracts/index.ts";
import { buildPrograms, dist } from "../../src/build.ts";

export const programs = {
  main: join(dist, "main.mjs"),
  cli: join(dist, "cli.mjs"),
  killable: join(dist, "killable.mjs"),
} as const;

export async function buildAll(): Promise<void> {
  await buildPrograms();
  await buildPrograms({ killable: "test/support/killable.ts" });
  await loadArtifacts();
}
