import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build, stop } from "esbuild";
import type { Context } from "hono";

/** Addresses of what a page loads. They change with the contents, so they are kept for ever. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}
interface Asset {
  readonly path: string;
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Buffer;
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
      readFile(join(import.meta.dirname, "pages.css")).then((text) => asset("pages", "css", text)),
      bundle().then((text) => asset("checkout", "js", text)),
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
      return found ? respond(c, found) : null;
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

const types = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" } as const;

async function asset(name: string, kind: keyof typeof types, plain: Buffer): Promise<Asset> {
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 16);
  const path = `/assets/${name}-${hash}.${kind}`;
  return { path, type: types[kind], plain, packed: await promisify(gzip)(plain) };
}

function respond(c: Context, { type, plain, packed }: Asset): Response {
  const isPacked = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return c.body(new Uint8Array(isPacked ? packed : plain), 200, {
    "Content-Type": type,
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
    ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
  });
}
