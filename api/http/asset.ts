import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";

/** What pages load. Its address changes with its contents, so it is kept for ever. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Buffer;
}

const types = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" } as const;

export async function makeAsset(
  under: string,
  name: string,
  kind: keyof typeof types,
  plain: Buffer,
): Promise<Asset> {
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 16);
  const path = `${under}/${name}-${hash}.${kind}`;
  return { path, type: types[kind], plain, packed: await promisify(gzip)(plain) };
}

export function answerAsset(c: Context, { type, plain, packed }: Asset): Response {
  const isPacked = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return c.body(new Uint8Array(isPacked ? packed : plain), 200, {
    "Content-Type": type,
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
    ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
  });
}
