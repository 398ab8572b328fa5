/** What is the same for everybody: drawn once, packed once, and known by its tag. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";

const HTML = "text/html; charset=UTF-8";

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

/** As `type`, 304 where the asker has it. */
export function answerKept(c: Context, { plain, packed, tag }: Kept, type = HTML): Response {
  c.header("ETag", tag);
  c.header("Cache-Control", "public, max-age=300");
  c.header("Vary", "Accept-Encoding");
  if (isKnown(c, tag)) return c.body(null, 304);
  c.header("Content-Type", type);
  if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.body(plain);
  c.header("Content-Encoding", "gzip");
  return c.body(new Uint8Array(packed));
}

/** Compared without their weakness. Source: RFC 9110 §13.1.2. */
function isKnown(c: Context, tag: string): boolean {
  const bare = (text: string) => text.trim().replace(/^W\//, "");
  const known = (c.req.header("if-none-match") ?? "").split(",").map(bare);
  return known.includes("*") || known.includes(bare(tag));
}
