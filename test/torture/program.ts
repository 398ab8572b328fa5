/** The service's process in one file: starting it from its sources again and again would take most of the machine. */
import { readFile, rm } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

export interface BundledProgram {
  /** How node runs it. */
  readonly program: readonly string[];
  remove(): Promise<void>;
}

const root = new URL("../../", import.meta.url);

/** Modules find their files beside themselves: each keeps the URL of its source. */
const sourceUrls: Plugin = {
  name: "source-urls",
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: path.endsWith("x") ? "tsx" : "ts",
    }));
  },
};

export async function bundledProgram(): Promise<BundledProgram> {
  // Where its packages are found from.
  const outfile = fileURLToPath(new URL(`node_modules/.cache/farebox-torture-${process.pid}.mjs`, root));
  await build({
    entryPoints: [fileURLToPath(new URL("test/support/killable.ts", root))],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
    logLevel: "error",
    plugins: [sourceUrls],
    outfile,
  });
  return { program: [outfile], remove: () => rm(outfile, { force: true }) };
}
