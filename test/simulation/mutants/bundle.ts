/** The worker in one file: it starts sooner and runs faster than one that compiles its sources. Its engine is as it is, or
 *  has one thing wrong. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import { buildPrograms, dist } from "../../../src/build.ts";
import { type Mutant, mutants } from "./mutants.ts";

const bundles = new Map<string | null, Promise<string>>();

/** Built once by a process. Returns where. */
export function bundleWorker(mutant: string | null): Promise<string> {
  const built = bundles.get(mutant) ?? bundle(mutant);
  bundles.set(mutant, built);
  return built;
}

async function bundle(mutant: string | null): Promise<string> {
  const program = mutant === null ? "simulation" : `simulation-${mutant}`;
  const mistakes = mutant === null ? [] : [mistake(mutant)];
  await buildPrograms({ [program]: "test/simulation/worker.ts" }, mistakes);
  return join(dist, `${program}.mjs`);
}

function mistake(name: string): Plugin {
  const mutant = mutants.find((each) => each.name === name);
  if (!mutant) throw new Error(`no mutant is called ${name}`);
  return {
    name: `mutant-${name}`,
    setup(build) {
      for (const file of new Set(mutant.changes.map((change) => change.file)))
        build.onLoad({ filter: new RegExp(`/facilitator/${file}$`) }, async ({ path }) => ({
          contents: changed(await readFile(path, "utf8"), mutant, file),
          loader: "ts",
        }));
    },
  };
}

/** Fails when the source is not what the mutant was made for. */
function changed(source: string, { name, changes }: Mutant, file: string): string {
  return changes
    .filter((change) => change.file === file)
    .reduce((text, { from, to }) => {
      const parts = text.split(from);
      if (parts.length !== 2)
        throw new Error(`${file} has ${parts.length - 1} times what ${name} replaces: ${from}`);
      return parts.join(to);
    }, source);
}
