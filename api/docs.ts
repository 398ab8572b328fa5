import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";

const require = createRequire(import.meta.url);
const SCRIPT = "/docs/reference.js";

/** The viewer adds its own styles while it runs; scripts, data and fonts come from here alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");
const settings = JSON.stringify({
  withDefaultFonts: false,
  hideClientButton: true,
  showToolbar: "never",
}).replaceAll('"', "&quot;");
const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Farebox API</title></head>
<body>
<noscript>This page reads <a href="openapi.json">openapi.json</a> with a script.</noscript>
<script id="api-reference" data-url="openapi.json" data-configuration="${settings}"></script>
<script src="docs/reference.js"></script>
</body>
</html>`;

/** `GET /docs`: the OpenAPI document for people, in Scalar's viewer, which is served from the installed package. */
export function mountDocs(app: OpenAPIHono): void {
  let script: Promise<Script> | undefined;
  app.get("/docs", (c) => {
    c.header("Content-Security-Policy", policy);
    c.header("Cache-Control", "public, max-age=300");
    return c.html(page);
  });
  app.get(SCRIPT, async (c) => {
    script ??= readScript();
    return answer(c, await script);
  });
}

interface Script {
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly tag: string;
}

/** Of Scalar's packages this is the one that holds the built viewer without hundreds of others to build it from. */
async function readScript(): Promise<Script> {
  const entry = require.resolve("@scalar/fastify-api-reference");
  const plain = await readFile(join(entry, "../js/standalone.js"));
  const packed = await promisify(gzip)(plain);
  return { plain, packed, tag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"` };
}

function answer(c: Context, { plain, packed, tag }: Script): Response {
  c.header("ETag", tag);
  c.header("Cache-Control", "public, max-age=86400");
  c.header("Vary", "Accept-Encoding");
  if (c.req.header("if-none-match") === tag) return c.body(null, 304);
  c.header("Content-Type", "text/javascript; charset=utf-8");
  if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.body(new Uint8Array(plain));
  c.header("Content-Encoding", "gzip");
  return c.body(new Uint8Array(packed));
}
