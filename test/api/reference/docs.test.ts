/** The reference as it is served: complete, without a dead link, small, and nothing in it but text. */
import { gunzipSync } from "node:zlib";
import { OpenAPIHono } from "@hono/zod-openapi";
import { beforeAll, describe, expect, it } from "vitest";
import { mountReference } from "../../../api/reference/routes.tsx";
import { stillSandbox, world } from "../world.ts";
import { attributesOf, type Pages, pagesOf, textOf, wrongLinks } from "./pages.ts";

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly summary: string }>>>
  >;
  readonly webhooks: Readonly<Record<string, object>>;
  readonly components: { readonly examples: Readonly<Record<string, object>> };
}

const { app } = world({ sandbox: stillSandbox });
let document: Document;
let pages: Pages;
beforeAll(async () => {
  document = (await (await app.request("/openapi.json")).json()) as Document;
  pages = await pagesOf(app);
});

describe("GET /docs", () => {
  it("shows every operation of the document once, with its method, path and a call of it", () => {
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    expect(all.length).toBeGreaterThan(100);
    const sections = [...pages.values()].flatMap((page) => page.split('<section class="entry"').slice(1));
    for (const { operationId, method, path, summary } of all) {
      const shown = sections.filter((section) => section.startsWith(` id="${operationId}"`));
      expect([operationId, shown.length]).toEqual([operationId, 1]);
      const text = textOf(shown[0] ?? "");
      expect(text).toContain(`${summary} ${method.toUpperCase()} ${path}`);
      expect(text).toContain(`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}`);
      expect(text).toContain("https://pay.example/");
    }
  });

  it("shows every event that is sent, and every code that a refusal may have", () => {
    expect(attributesOf(pages.get("/docs/events") ?? "", "id")).toEqual(
      expect.arrayContaining(Object.keys(document.webhooks)),
    );
    expect(attributesOf(pages.get("/docs/errors") ?? "", "id")).toEqual(
      expect.arrayContaining(Object.keys(document.components.examples)),
    );
  });

  it("leads nowhere that is not there, and names no place twice", async () => {
    const links = [...pages.values()].flatMap((page) => attributesOf(page, "href"));
    expect(links.length).toBeGreaterThan(1_000);
    expect(await wrongLinks(app, pages)).toEqual([]);
  });

  it("is found out when a link is dead or a place has two", async () => {
    const page = `<a href="/docs/nothing"></a><a href="#here"></a><a href="/docs#gone"></a><p id="b"></p><p id="b"></p>`;
    expect(await wrongLinks(app, new Map([["/docs", page]]))).toEqual([
      "/docs: /docs/nothing",
      "/docs: #here",
      "/docs: /docs#gone",
      "/docs: two of #b",
    ]);
  });

  it("has a page for each tag, none of which is large, and its address in the menu of every page", () => {
    expect(pages.size).toBe(document.tags.length + 2);
    for (const [path, page] of pages) {
      expect([path, page.length < 400_000]).toEqual([path, true]);
      expect(attributesOf(page, "href")).toEqual(expect.arrayContaining([...pages.keys()]));
      expect(attributesOf(page, "aria-current")).toEqual(["page", "page"]);
    }
  });

  it("loads a style sheet and a small script, which are kept for ever, and nothing else", async () => {
    for (const page of pages.values()) {
      const loaded = [...attributesOf(page, "src"), attributesOf(page, "href")[0] ?? ""];
      expect(loaded).toEqual([
        expect.stringMatching(/^\/docs\/assets\/reference-[\w-]{16}[.]js$/),
        expect.stringMatching(/^\/docs\/assets\/reference-[\w-]{16}[.]css$/),
      ]);
      expect(page).not.toMatch(/<style|<script[^>]*>[^<]|\sstyle="|\son\w+="/);
    }
    for (const [path, limit] of [
      [attributesOf(pages.get("/docs") ?? "", "src")[0] ?? "", 10_000],
      [attributesOf(pages.get("/docs") ?? "", "href")[0] ?? "", 30_000],
    ] as const) {
      const file = await app.request(path);
      expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect((await file.arrayBuffer()).byteLength).toBeLessThan(limit);
    }
  });

  it("forbids whatever is not its own", async () => {
    const { headers } = await app.request("/docs");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'none'; " +
        "frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each([
    ["/docs/refunds", "text/html; charset=UTF-8"],
    ["/openapi.json", "application/json"],
  ])("304 where %s is known, and packed where that is read", async (path, type) => {
    const plain = await app.request(path);
    const tag = plain.headers.get("etag") ?? "";
    const ask = (headers: Record<string, string>) => app.request(path, { headers });
    for (const known of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const answer = await ask({ "if-none-match": known });
      expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", tag]);
    }
    expect((await ask({ "if-none-match": `W/"other"` })).status).toBe(200);
    expect((await app.request("/docs/payouts", { headers: { "if-none-match": tag } })).status).toBe(200);
    const packed = await ask({ "accept-encoding": "br, gzip" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect([plain, packed].map((each) => each.headers.get("content-type"))).toEqual([type, type]);
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(await plain.text());
    expect(packed.headers.get("vary")).toContain("Accept-Encoding");
  });

  it("404: no such page, no such file", async () => {
    expect((await app.request("/docs/nothing")).status).toBe(404);
    expect((await app.request("/docs/assets/reference-0.js")).status).toBe(404);
  });
});

describe("a document of somebody else", () => {
  const mounted = (of: unknown) => {
    const other = new OpenAPIHono();
    other.onError(({ message }, c) => c.text(message, 500));
    mountReference(other, () => JSON.stringify(of));
    return other;
  };

  it("is text, whatever stands in it", async () => {
    const evil = `</code>"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
    const hostile = mounted(spoilt(document, evil));
    const shown = await pagesOf(hostile);
    expect(shown.size).toBe(pages.size);
    for (const page of shown.values()) {
      expect(page).toContain("&lt;script&gt;alert(1)");
      expect(page).not.toContain("<script>alert");
      expect(page).not.toContain("<img");
      expect(page.match(/<script/g)).toHaveLength(1);
    }
  });

  it("is refused where a reference leads nowhere", async () => {
    const broken = JSON.stringify(document).replace(
      '"#/components/schemas/RefundInput"',
      '"#/components/schemas/Gone"',
    );
    const other = mounted(JSON.parse(broken));
    expect((await other.request("/docs/payouts")).status).toBe(200);
    expect(await (await other.request("/docs/refunds")).text()).toContain(
      "#/components/schemas/Gone leads nowhere",
    );
  });
});

const said = [
  "description",
  "summary",
  "title",
  "detail",
  "example",
  "pattern",
  "operationId",
  "x-permission",
];

/** The document with this behind every text in it and every name of a member. */
function spoilt(value: unknown, evil: string, key = ""): unknown {
  if (typeof value === "string") return said.includes(key) ? value + evil : value;
  if (Array.isArray(value))
    return value.map((each) =>
      key === "enum" && typeof each === "string" ? each + evil : spoilt(each, evil),
    );
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const isName = ["properties", "paths", "webhooks", "content"].includes(key);
    return [isName ? name + evil : name, spoilt(member, evil, isName ? "" : name)] as const;
  });
  return Object.fromEntries(members);
}
