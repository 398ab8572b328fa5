import { createHash } from "node:crypto";
import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { html, raw } from "hono/html";
import { fault, publicFaults } from "./faults.ts";
import { statusOfCode } from "./problem.ts";
import { json, problems } from "./route.ts";

const ErrorPage = z
  .object({ code: z.string(), title: z.string(), status: z.int(), detail: z.string() })
  .openapi("ErrorPage", {
    example: {
      code: "not_found",
      title: "Not found",
      status: 404,
      detail: "There is nothing here for you. Check the id and the path.",
    },
  });
type ErrorPage = z.infer<typeof ErrorPage>;

const style = `html{color-scheme:light dark;background:Canvas}body{max-width:40rem;margin:4rem auto;padding:0 1rem;font:1.1rem/1.5 system-ui,sans-serif}
code{font-size:.95em}footer{margin-top:3rem}`;
const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'`;

/** What a problem's `type` points to: the code, in words. */
export const errorRoutes = [
  defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/errors/{code}",
      tags: ["service"],
      security: [],
      summary: "What an error code means",
      request: { params: z.object({ code: z.string().openapi({ example: "not_found" }) }) },
      responses: {
        200: {
          description: "The meaning of the code; a page for who asks for text/html",
          content: { ...json(ErrorPage, "").content, "text/html": { schema: z.string() } },
        },
        ...problems("not_found"),
      },
    }),
    handler: (c) => {
      const page = errorPage(c.req.valid("param").code);
      if (!page) throw fault("not_found");
      c.header("Cache-Control", "public, max-age=3600");
      c.header("Vary", "Accept");
      return prefersPage(c) ? shown(c, page, 200) : c.json(page, 200);
    },
  }),
] as const;

/** Whether the caller reads pages rather than JSON, as browsers do. */
export function prefersPage(c: Context): boolean {
  const supports = ["application/json", "text/html"];
  return accepts(c, { header: "Accept", supports, default: "application/json" }) === "text/html";
}

/** The page of `not_found`, for somebody who mistyped an address. */
export function notFoundPage(c: Context) {
  c.header("Cache-Control", "no-store");
  const { code, title, detail } = fault("not_found");
  return shown(c, { code, title, detail, status: 404 }, 404);
}

function shown(c: Context, page: ErrorPage, status: 200 | 404) {
  c.header("Content-Security-Policy", policy);
  return c.html(asHtml(page), status);
}

function errorPage(code: string): ErrorPage | null {
  const spec = Object.hasOwn(publicFaults, code) ? publicFaults[code] : undefined;
  return spec ? { code, title: spec.title, status: statusOfCode(code), detail: spec.detail } : null;
}

function asHtml({ code, title, status, detail }: ErrorPage) {
  const braces = /\{\w+\}/.test(detail) ? html`<p>Words in braces are filled in.</p>` : "";
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${raw(style)}</style></head>
<body><header><a href="/docs">Farebox API</a></header>
<main><h1>${title}</h1><p>${detail}</p>${braces}<p><code>${code}</code>, HTTP status ${status}</p></main>
<footer><a href="/docs/errors#${code}">All error codes</a></footer></body>
</html>`;
}

/** Every code as Markdown, sorted by status and code: the contents of `docs/reference/errors.md`. */
export function errorReference(): string {
  const pages = Object.keys(publicFaults)
    .flatMap((code) => errorPage(code) ?? [])
    .sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
  const rows = pages.map(
    ({ status, code, title, detail }) =>
      `| ${status} | \`${code}\` | ${title} | ${detail.replaceAll("<", "\\<")} |`,
  );
  return `# Error codes

Every refusal outside the payment protocol is problem details (RFC 9457, \`application/problem+json\`). \`code\` is the
contract: a client decides by it, never by \`title\` or \`detail\`. \`type\` is the address of a page for the code,
\`requestId\` names the request in our logs, and \`errors[]\` points to what is wrong in the request. Words in braces are
filled in.

Made from the catalogue by \`npm run reference\`; a test compares the two.

| status | code | title | what is wrong, and the next step |
|---|---|---|---|
${rows.join("\n")}
`;
}
