/** A page that is the same for everybody: drawn once, packed once, and known by its tag. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";

export interface Kept {
  readonly plain: string;
  readonly packed: Buffer;
  /** Weak, since the packed bytes go by the same one. */
  readonly tag: string;
}

export async function keep(plain: string): Promise<Kept> {
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  return { plain, packed: await promisify(gzip)(plain), tag: `W/"${hash}"` };
}

export function answerKept(c: Context, { plain, packed, tag }: Kept): Response {
  c.header("ETag", tag);
  c.header("Cache-Control", "public, max-age=300");
  c.header("Vary", "Accept-Encoding");
  if (isKnown(c, tag)) return c.body(null, 304);
  if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.html(plain);
  c.header("Content-Encoding", "gzip");
  c.header("Content-Type", "text/html; charset=UTF-8");
  return c.body(new Uint8Array(packed));
}

/** Compared without their weakness. Source: RFC 9110 §13.1.2. */
function isKnown(c: Context, tag: string): boolean {
  const bare = (text: string) => text.trim().replace(/^W\//, "");
  const known = (c.req.header("if-none-match") ?? "").split(",").map(bare);
  return known.includes("*") || known.includes(bare(tag));
}
