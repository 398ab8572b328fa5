import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { errorReference } from "#api";
import { publicFaults } from "../../../api/http/faults.ts";
import { world } from "../world.ts";

const { app } = world();
const codes = Object.keys(publicFaults);
const ask = (code: string, accept?: string) =>
  app.request(`/errors/${code}`, { headers: accept === undefined ? {} : { accept } });

describe("GET /errors/{code}", () => {
  it("200: every code that can appear has a page, as JSON and as HTML", async () => {
    expect(codes.length).toBeGreaterThan(40);
    for (const code of codes) {
      const spec = publicFaults[code];
      const page = await (await ask(code)).json();
      expect(page).toEqual({ code, title: spec?.title, status: expect.any(Number), detail: spec?.detail });
      const html = await (await ask(code, "text/html,application/xhtml+xml,*/*;q=0.8")).text();
      expect(html).toContain(`<h1>${spec?.title}</h1>`);
      expect([code, html.includes("Words in braces are filled in.")]).toEqual([
        code,
        /\{\w+\}/.test(spec?.detail ?? ""),
      ]);
      expect(html).toContain(`<a href="/docs/errors#${code}">All error codes</a>`);
      expect(html).toContain(`<code>${code}</code>, HTTP status ${(page as { status: number }).status}`);
    }
  });

  it.each([undefined, "*/*", "application/json", "application/*", "text/html;q=0.5, application/json"])(
    "answers Accept: %s with JSON",
    async (accept) => {
      const { headers } = await ask("not_found", accept);
      expect([headers.get("content-type"), headers.get("vary")]).toEqual(["application/json", "Accept"]);
    },
  );

  it("allows its page nothing but its own style, and escapes what it shows", async () => {
    const response = await ask("unauthenticated", "text/html");
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; frame-ancestors 'none'/,
    );
    const html = await response.text();
    expect(html).toContain("&lt;API_KEY&gt;");
    expect(html).not.toContain("<script");
  });

  it.each([
    ["a browser that mistyped an address is shown a page", "text/html,*/*;q=0.8", "text/html; charset=UTF-8"],
    ["a program is told by a problem", "*/*", "application/problem+json"],
  ])("404: %s", async (_, accept, type) => {
    const response = await app.request("/chekout", { headers: { accept } });
    expect([response.status, response.headers.get("content-type")]).toEqual([404, type]);
    expect(response.headers.get("cache-control")).toMatch(/no-store/);
    expect(await response.text()).toContain("There is nothing here for you.");
  });

  it.each(["/v1/paymnts", "/v1/payouts;x=1", "/x402/resources/x/y", "/health/x"])(
    "404: %s is for programs, whatever they say that they read",
    async (path) => {
      const { status, headers } = await app.request(path, { headers: { accept: "text/html" } });
      expect([status, headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    },
  );

  it.each(["no_such_code", "__proto__", "constructor", "ledger_conflict"])("404 for %s", async (code) => {
    expect((await ask(code)).status).toBe(404);
  });

  it.each([
    ["method_not_allowed", 405],
    ["not_acceptable", 406],
    ["body_too_large", 413],
    ["unsupported_media_type", 415],
    ["rate_limited", 429],
    ["chain_unavailable", 424],
  ])("%s has status %i", async (code, status) => {
    expect(await (await ask(code)).json()).toMatchObject({ status });
  });
});

describe("docs/reference/errors.md", () => {
  it("is what the catalogue says; `npm run reference` writes it anew", async () => {
    const written = await readFile(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
    expect(written).toBe(errorReference());
  });

  it("names every code once", () => {
    const named = [...errorReference().matchAll(/^\| \d{3} \| `(\w+)` \|/gm)].map(([, code]) => code);
    expect([...named].sort()).toEqual([...codes].sort());
  });
});
