/** Programs in one file each, in `dist/`: a process that compiles its sources while it starts needs five times as long,
 *  and runs slower for good. `npm run build`. */
import { readFileSync, realpathSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { drizzleEntity, ofOneDrizzle } from "./one-drizzle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
export const dist = join(root, "dist");

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: { readonly start: string };
};
const started = scripts.start.split(" ");

/** What `npm start` gives node before the program. What a wave of payments leaves behind dies young where the young
 *  heap holds a fifth of a second of it: with half as much, each verify takes a quarter more of a core, most of it for
 *  the old heap. That one may grow by three quarters of what it holds before it is gone through: docs/decisions/0009. */
export const nodeFlags: readonly string[] = started.filter((word) => word.startsWith("--"));

/** And its environment: one arena of the C library, where each of node's threads would keep pages of its own. */
export const nodeEnv: Readonly<Record<string, string>> = Object.fromEntries(
  started.slice(0, started.indexOf("node")).map((word) => word.split("=")),
);

/** The service, its command line, and what runs beside the local deployment. */
const programs = {
  main: "src/main.ts",
  cli: "src/cli.ts",
  "sandbox-provider": "src/dev/sandbox-provider/main.ts",
};

/** Packages that bring machine code or files of their own, or that start threads by a file's name. All others are in the
 *  bundle: to find and read a thousand files takes longer than to run them. */
const outside = [
  "secp256k1",
  "keccak",
  "pg",
  "graphile-worker",
  "pdfkit",
  "fontkit",
  "subset-font",
  "pino",
  "esbuild",
];

/** What packages of the older kind call is not there in a module. */
const required = `import { createRequire as makeRequire } from "node:module";
const require = makeRequire(import.meta.url);`;

/** Without comments and blanks, which node keeps in memory as long as the program runs; names stay, and lines end
 *  early, so that a stack still tells where it was. What licenses ask to be told lies beside the program. */
const lean = {
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  legalComments: "linked",
} as const;

/** Modules find their files beside themselves: each keeps the place of its source. */
const sourcePlaces: Plugin = {
  name: "source-places",
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      if (path.includes("/node_modules/")) return undefined;
      const place = JSON.stringify(relative(dist, path));
      const contents = (await readFile(path, "utf8"))
        .replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`)
        .replaceAll(
          "import.meta.dirname",
          `new URL(${place}, import.meta.url).pathname.replace(/.[^/]*$/, "")`,
        );
      return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

/** In one file there is one copy of drizzle. */
const oneDrizzle: Plugin = {
  name: "one-drizzle",
  setup(build) {
    build.onLoad({ filter: drizzleEntity }, async ({ path }) => ({
      contents: ofOneDrizzle(await readFile(path, "utf8")),
      loader: "js",
    }));
  },
};

/** Builds each program from its source, both named from the repository's root. `plugins` come first. */
export async function buildPrograms(
  sources: Readonly<Record<string, string>> = programs,
  plugins: readonly Plugin[] = [],
): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: Object.entries(sources).map(([out, source]) => ({ in: join(root, source), out })),
    bundle: true,
    write: false,
    external: outside,
    banner: { js: required },
    platform: "node",
    conditions: [], // those that Node itself follows, and not those of bundlers
    format: "esm",
    target: "node20",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
    logLevel: "error",
    ...lean,
    plugins: [...plugins, oneDrizzle, sourcePlaces],
    outdir: dist,
    outExtension: { ".js": ".mjs" },
  });
  await mkdir(dist, { recursive: true });
  for (const { path, contents } of outputFiles) {
    // Somebody may be starting it right now: who reads it reads the old one or the new one, never half of one.
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, contents);
    await rename(fresh, path);
  }
}

const command = process.argv[1];
if (command && realpathSync(command) === fileURLToPath(import.meta.url)) await buildPrograms();
