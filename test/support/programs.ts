/** The service's programs as operators run them, and the one that tests can kill; built once per run, before whatever
 *  starts them. */
import { join } from "node:path";
import { buildPrograms, dist } from "../../src/build.ts";

export const programs = {
  main: join(dist, "main.mjs"),
  cli: join(dist, "cli.mjs"),
  killable: join(dist, "killable.mjs"),
} as const;

/** Packages with native parts or files beside their code, or that look for what may not be there. All others are within the
 *  program that can be killed: tests start it hundreds of times. */
const withFiles = ["secp256k1", "keccak", "pg-native", "graphile-worker", "pdfkit"];

export async function buildAll(): Promise<void> {
  await buildPrograms();
  await buildPrograms({ killable: "test/support/killable.ts" }, { outside: withFiles });
}
