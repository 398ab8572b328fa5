import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build, stop } from "esbuild";
import type { Context } from "hono";
import { type Asset, answerAsset, makeAsset } from "../http/asset.ts";

/** Addresses of what a page loads. They change with the contents, so they are kept for ever. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}

/** The style and the script of the pages: made once, when they are first asked for. */
export interface AssetBook {
  addresses(): Promise<Assets>;
  answer(c: Context): Promise<Response | null>;
}

export function openAssets(): AssetBook {
  let made: Promise<readonly [style: Asset, script: Asset]> | undefined;
  const all = () => {
    made ??= Promise.all([
      readFile(join(import.meta.dirname, "pages.css")).then((text) =>
        makeAsset("/assets", "pages", "css", text),
      ),
      bundle().then((text) => makeAsset("/assets", "checkout", "js", text)),
    ]);
    // A failure is not kept: the next page tries again.
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
  return {
    async addresses() {
      const [style, script] = await all();
      return { style: style.path, script: script.path };
    },
    async answer(c) {
      const found = (await all()).find(({ path }) => path === c.req.path);
      return found ? answerAsset(c, found) : null;
    },
  };
}

/** The script of a page, as browsers of the last years read it. */
export async function bundle(): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "island/main.ts")],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    legalComments: "none",
  });
  // It keeps a process of its own until it is told.
  await stop();
  return Buffer.from(outputFiles[0]?.contents ?? []);
}
