import { describe, expect, it } from "vitest";
import { fakeFacilitator, post, resourceId, world } from "../world.ts";

describe("paths and methods", () => {
  it("404 as problem details for a path that is none", async () => {
    const response = await world().app.request("/nowhere");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found", instance: "/nowhere" });
  });

  it("405 with Allow for a path under another method", async () => {
    const { app } = world();
    const put = await app.request("/v1/x402/resources", { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST"]);
    const get = await app.request(`/x402/resources/${resourceId}/settle`);
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await get.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
  });
});

describe("NUL, which no text of ours holds and no database takes", () => {
  it.each([
    "/v1/payouts/%00",
    "/v1/payouts/po_%00/cancel",
    "/x402/settlements/%00",
    "/v1/refunds/a%00?limit=1",
  ])("in the path %s: 404", async (path) => {
    const response = await world().app.request(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
  });

  it("in the query: 400 that names the parameter", async () => {
    const response = await world().app.request("/v1/payments?state=paid&merchantReference=a%00b");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/query/merchantReference", detail: expect.stringMatching(/NUL/) }],
    });
  });

  it.each(["asset=%00&chain=base", "a%00=1"])("in the form %s: 400, and nothing is asked", async (body) => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "30" };
    const send = (executionPath: string) =>
      world().app.request("/checkout/pi_01K2C0Z0000000000000000000/confirm", {
        ...{ method: "POST", headers, redirect: "manual" as const },
        body: `${body}&executionPath=${executionPath}`,
      });
    expect((await send("deposit-match")).status).toBe(400);
  });
});

describe("Accept", () => {
  it.each(["*/*", "application/*", "application/json;charset=utf-8", "text/html, */*;q=0.1", ""])(
    "%j can read an answer: the key is asked for next",
    async (accept) => {
      const response = await world().app.request("/v1/merchant", { headers: { accept } });
      expect(response.status).toBe(401);
    },
  );
});

describe("Service-Version", () => {
  it("is echoed on every /v1 answer, refusals included", async () => {
    const response = await world().app.request("/v1/x402/resources");
    expect([response.status, response.headers.get("service-version")]).toEqual([401, "2026-08-11"]);
  });

  it.each(["2026-08-10", "2026-08-12", "2026-8-11", "latest", "2026-02-30", "2026-08-11T00:00:00Z"])(
    "400 for %s",
    async (version) => {
      const response = await world().app.request("/v1/x402/resources", {
        headers: { "service-version": version },
      });
      expect(response.status).toBe(400);
      expect(response.headers.get("service-version")).toBe("2026-08-11");
      expect(await response.json()).toMatchObject({ code: "invalid_service_version" });
    },
  );

  it("is ignored outside /v1", async () => {
    const response = await world().app.request("/x402/supported", {
      headers: { "service-version": "nonsense" },
    });
    expect(response.status).toBe(200);
  });
});

describe("keys", () => {
  it.each([
    undefined,
    "Bearer",
    "Bearer nonsense",
    "Basic c2s6",
    "Bearer sk_000000000000000000000000000000000000000000000000000",
  ])("401 without asking the database for Authorization: %s", async (header) => {
    const headers = header === undefined ? {} : { authorization: header };
    const response = await world().app.request("/v1/x402/resources", { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toMatchObject({ code: "unauthenticated" });
  });

  it("come before the body: without one it is not read", async () => {
    const response = await world().app.request("/v1/x402/resources", post('{"a":1,"a":2}'));
    expect(response.status).toBe(401);
  });
});

describe("headers", () => {
  it("every answer has an id and forbids sniffing; a merchant's is not stored", async () => {
    const response = await world().app.request("/v1/x402/resources");
    expect(response.headers.get("request-id")).toMatch(/^req_[0-9A-Z]{26}$/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("strict-transport-security")).toMatch(/max-age/);
    expect(response.headers.get("cache-control")).toMatch(/no-store/);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  it.each(["/", "/dashboard/sign-in"])(
    "the page %s may be framed, stored and scripted by nobody",
    async (path) => {
      const { headers } = await world().app.request(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "x-robots-tag": "noindex",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "strict-transport-security": "max-age=31536000",
      });
    },
  );

  it("no page may frame an answer that is none, nor run what stands in it", async () => {
    const { headers } = await world().app.request("/v1/x402/resources");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("a preflight for a payment is answered with the headers that stock clients send", async () => {
    const response = await world().app.request(`/x402/resources/${resourceId}/settle`, {
      method: "OPTIONS",
      headers: {
        origin: "https://shop.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,access-control-expose-headers",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-headers")).toMatch(/Access-Control-Expose-Headers/);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("a browser may read the payment headers", async () => {
    const response = await world().app.request(`/x402/resources/${resourceId}/payment-required`, {
      headers: { origin: "https://a.example" },
    });
    expect(response.headers.get("access-control-expose-headers")).toMatch(/PAYMENT-REQUIRED/);
  });
});

describe("GET /health", () => {
  it("200 without asking anything", async () => {
    const response = await world().app.request("/health");
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: "ok", version: "0.0.0", revision: "2026-08-11" },
    ]);
  });

  it("/ready: 200 or 503 as the checks say", async () => {
    const ready = await world().app.request("/health/ready");
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: "ready", checks: { database: true } },
    ]);
    const not = await world({ isReady: false }).app.request("/health/ready");
    expect([not.status, await not.json()]).toEqual([
      503,
      { status: "not-ready", checks: { database: false } },
    ]);
  });
});

describe("an outage", () => {
  it("503 with Retry-After where the facilitator cannot read its rows", async () => {
    const facilitator = fakeFacilitator({
      offer: () => Promise.reject(Object.assign(new Error("gone"), { code: "57P01" })),
    });
    const response = await world({ facilitator }).app.request(
      `/x402/resources/${resourceId}/payment-required`,
    );
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });
});
