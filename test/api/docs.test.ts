import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { world } from "./world.ts";

const { app } = world();

describe("GET /docs", () => {
  it("200: a page that loads nothing from anywhere else", async () => {
    const response = await app.request("/docs");
    const page = await response.text();
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    const loaded = [...page.matchAll(/(?:src|href|data-url)="([^"]+)"/g)].map(([, url]) => url ?? "");
    expect(loaded.sort()).toEqual(["docs/reference.js", "openapi.json", "openapi.json"]);
    for (const url of loaded) {
      const { status } = await app.request(`/${url}`);
      expect([url, status]).toEqual([url, 200]);
    }
  });

  it("has a policy of its own: scripts, data and fonts from here alone, none inline", async () => {
    const response = await app.request("/docs");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self';/);
    expect(policy).toMatch(/connect-src 'self';/);
    expect(policy).not.toMatch(/https?:/);
    const scripts = [...(await response.text()).matchAll(/<script[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(scripts).toEqual(["", ""]);
  });
});

describe("GET /docs/reference.js", () => {
  it("200: the viewer of the installed package, packed where that is read, and 304 when it is known", async () => {
    const plain = await app.request("/docs/reference.js");
    expect(plain.headers.get("content-type")).toMatch(/^text\/javascript/);
    const script = Buffer.from(await plain.arrayBuffer());
    expect(script.length).toBeGreaterThan(1_000_000);
    const packed = await app.request("/docs/reference.js", { headers: { "accept-encoding": "br, gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).equals(script)).toBe(true);
    const known = await app.request("/docs/reference.js", {
      headers: { "if-none-match": plain.headers.get("etag") ?? "" },
    });
    expect([known.status, await known.text()]).toEqual([304, ""]);
  });
});
