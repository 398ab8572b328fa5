import { beforeAll, describe, expect, it } from "vitest";
import type { Revision } from "../../../api/http/version.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

type Body = Record<string, unknown>;

/** Two made-up later revisions of a resource. In the first of them `description` became `summary`, in the second
 *  `maxTimeoutSeconds` was added; their steps take that back. */
const revisions: readonly Revision[] = [
  {
    date: "2026-11-01",
    down: ({ route, body }) => {
      if (!route.includes("/v1/x402/resources")) return body;
      const { maxTimeoutSeconds: _new, ...before } = body as Body;
      return before;
    },
  },
  {
    date: "2026-10-01",
    down: ({ route, status, body }) => {
      if (route !== "POST /v1/x402/resources" && route !== "GET /v1/x402/resources/{id}") return body;
      const { serviceName, ...before } = body as Body;
      return { ...before, service: serviceName, status };
    },
  },
];

const database = sharedDatabase();
let shop: Caller;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  shop = await newCaller(database.db);
  call = caller(world({ db: database.db, revisions }).app, shop);
});

const path = "/v1/x402/resources";
let count = 0;
const terms = () => ({
  url: `https://api.example.com/${++count}`,
  price: { amount: "1", asset: "USD" },
  serviceName: "Weather",
});
const pinned = (date: string | null, key?: string) => ({
  ...(date === null ? {} : { "service-version": date }),
  ...(key === undefined ? {} : { "idempotency-key": key }),
});

describe("an answer", () => {
  it.each([
    [null, "2026-11-01", { serviceName: "Weather", maxTimeoutSeconds: 300 }],
    ["2026-11-01", "2026-11-01", { serviceName: "Weather", maxTimeoutSeconds: 300 }],
    ["2026-10-31", "2026-10-01", { serviceName: "Weather" }],
    ["2026-10-01", "2026-10-01", { serviceName: "Weather" }],
    ["2026-09-30", "2026-08-11", { service: "Weather", status: 201 }],
    ["2026-08-11", "2026-08-11", { service: "Weather", status: 201 }],
  ])("pinned to %s has the shape of %s, newest step first", async (pin, served, shape) => {
    const { status, headers, body } = await call("POST", path, { body: terms(), headers: pinned(pin) });
    expect([status, headers.get("service-version")]).toEqual([201, served]);
    const { serviceName, service, maxTimeoutSeconds, status: stepped } = body as Body;
    const seen = { serviceName, service, maxTimeoutSeconds, status: stepped };
    expect(JSON.parse(JSON.stringify(seen))).toEqual(shape);
  });

  it("of a route that no step names, and a refusal, pass as they are", async () => {
    const headers = pinned("2026-08-11");
    const merchant = await call("GET", "/v1/merchant", { headers });
    expect(merchant.body).toEqual((await call("GET", "/v1/merchant")).body);
    expect(merchant.headers.get("service-version")).toBe("2026-08-11");
    const missing = await call("GET", `${path}/x402r_01K2C0Z0000000000000000000`, { headers });
    expect([missing.status, missing.body.code]).toEqual([404, "not_found"]);
    expect(missing.headers.get("service-version")).toBe("2026-08-11");
  });

  it("without a body stays without one", async () => {
    const { body } = await call("POST", path, { body: terms() });
    const { status, text, headers } = await call("DELETE", `${path}/${body.id}`, {
      headers: pinned("2026-08-11"),
    });
    expect([status, text, headers.get("service-version")]).toEqual([204, "", "2026-08-11"]);
  });
});

describe("a replayed answer", () => {
  it.each([
    ["2026-08-11", null],
    [null, "2026-08-11"],
  ])(
    "first given in %s and asked for again in %s keeps its revision and its bytes",
    async (before, after) => {
      const body = terms();
      const key = `${before}`;
      const first = await call("POST", path, { body, headers: pinned(before, key) });
      const again = await call("POST", path, { body, headers: pinned(after, key) });
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.text).toBe(first.text);
      expect(again.headers.get("service-version")).toBe(first.headers.get("service-version"));
      expect(first.headers.get("service-version")).toBe(before ?? "2026-11-01");
    },
  );
});

describe("a date that cannot be pinned", () => {
  it.each(["2026-11-02", "2026-08-10", "11-01-2026"])("400 invalid_service_version for %s", async (pin) => {
    const { status, body, headers } = await call("GET", path, { headers: pinned(pin) });
    expect([status, body.code]).toEqual([400, "invalid_service_version"]);
    expect(body.detail).toContain("2026-11-01");
    expect(headers.get("service-version")).toBe("2026-11-01");
  });
});
