/** Module hooks of a worker: the engine imported as `…?mutant=name` is a copy of its own, with one thing wrong. The kernel is
 *  shared, so that its faults are one class. */
import { readFile } from "node:fs/promises";
import type { InitializeHook, LoadHook, ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import type { Mutant } from "./mutants.ts";

let mutants: readonly Mutant[] = [];

export const initialize: InitializeHook<readonly Mutant[]> = (given) => {
  mutants = given;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context);
  const name = mutantOf(context.parentURL ?? "");
  const isEngine = /\/facilitator\/(?!kernel\/)/.test(found.url);
  return name && isEngine && !mutantOf(found.url) ? { ...found, url: `${found.url}?mutant=${name}` } : found;
};

export const load: LoadHook = async (url, context, next) => {
  const mutant = mutants.find(({ name }) => name === mutantOf(url));
  const changes = mutant?.changes.filter(({ file }) => url.includes(`/facilitator/${file}?`)) ?? [];
  if (changes.length === 0) return next(url, context);
  const path = fileURLToPath(url.slice(0, url.indexOf("?")));
  let source = await readFile(path, "utf8");
  for (const { from, to } of changes) source = replaceOnce(source, from, to, path);
  const { code } = await transform(source, { loader: "ts", format: "esm", target: "node20" });
  return { format: "module", source: code, shortCircuit: true };
};

/** Fails when the source is not what the mutant was made for. */
function replaceOnce(source: string, from: string, to: string, path: string): string {
  const parts = source.split(from);
  if (parts.length !== 2)
    throw new Error(`${path} has ${parts.length - 1} times what a mutant replaces: ${from}`);
  return parts.join(to);
}

function mutantOf(url: string): string | undefined {
  return /\?mutant=([\w-]+)$/.exec(url)?.[1];
}
