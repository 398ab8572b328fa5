/** The service's programs, each in one file: starting one from its sources takes seconds of a core, and tests start
 *  hundreds. Built once per run, before whatever starts them. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const root = new URL("../../", import.meta.url);
// Below node_modules: where its packages are found from.
const built = (name: string) =>
  fileURLToPath(new URL(`node_modules/.cache/farebox-programs/${name}.mjs`, root));

/** How node runs each of them. */
export const programs = {
  main: built("main"),
  cli: built("cli"),
  killable: built("killable"),
} as const;

const sources = {
  main: "src/main.ts",
  cli: "src/cli.ts",
  killable: "test/support/killable.ts",
} as const satisfies Record<keyof typeof programs, string>;

/** Modules find their files beside themselves: each keeps the place of its source. */
const sourcePlaces: Plugin = {
  name: "source-places",
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8"))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path))),
      loader: path.endsWith("x") ? "tsx" : "ts",
    }));
  },
};

export async function buildPrograms(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: Object.entries(sources).map(([out, source]) => ({
      in: fileURLToPath(new URL(source, root)),
      out,
    })),
    bundle: true,
    write: false,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
    logLevel: "error",
    plugins: [sourcePlaces],
    outdir: dirname(programs.main),
    outExtension: { ".js": ".mjs" },
  });
  await mkdir(dirname(programs.main), { recursive: true });
  for (const { path, contents } of outputFiles) {
    // Another run may be starting it right now: it reads the old one or the new one, never half of it.
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, contents);
    await rename(fresh, path);
  }
}
