import { beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

const database = sharedDatabase();
let shop: Caller;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  shop = await newCaller(database.db);
  call = caller(world({ db: database.db }).app, shop);
});

describe("406 not_acceptable", () => {
  it.each(["text/html", "application/xml, text/*", "application/json;q=0", "text/csv"])(
    "for Accept: %s, as problem details all the same",
    async (accept) => {
      const { status, body, headers } = await call("GET", "/v1/merchant", { headers: { accept } });
      expect([status, body.code]).toEqual([406, "not_acceptable"]);
      expect(body.detail).toContain("application/json");
      expect(headers.get("content-type")).toBe("application/problem+json");
    },
  );

  it.each(["*/*", "application/*", "text/html, application/json;q=0.2", "application/json; charset=utf-8"])(
    "not for Accept: %s",
    async (accept) => {
      expect((await call("GET", "/v1/merchant", { headers: { accept } })).status).toBe(200);
    },
  );

  it("not where the route writes that type as well", async () => {
    const { status } = await call("GET", "/v1/ledger/entries", { headers: { accept: "text/csv" } });
    expect(status).toBe(200);
  });
});

describe("a body", () => {
  it("415 under another type, 413 above 256 KiB, 400 where it is not JSON or says a thing twice", async () => {
    const patch = (body: unknown, type = "application/json") =>
      call("PATCH", "/v1/merchant", { body, headers: { "content-type": type } });
    const told = async (answer: ReturnType<typeof patch>) => {
      const { status, body } = await answer;
      return `${status} ${body.code}`;
    };
    expect(await told(patch("city=Oslo", "application/x-www-form-urlencoded"))).toBe(
      "415 unsupported_media_type",
    );
    expect(await told(patch('{"city":"Oslo"}', "text/plain"))).toBe("415 unsupported_media_type");
    expect(await told(patch({ city: "x".repeat(262_144) }))).toBe("413 body_too_large");
    expect(await told(patch("{"))).toBe("400 invalid_json");
    expect(await told(patch('{"city":"Oslo","city":"Bergen"}'))).toBe("400 invalid_json");
    expect(await told(patch('{"city":"\\u0000"}'))).toBe("400 invalid_json");
  });

  it("is read under the type of JSON however that is written, whatever it says besides", async () => {
    for (const type of [
      "application/json;",
      "application/json ; charset=utf-8",
      "application/json; charset=utf-8; odata.metadata=minimal",
    ]) {
      const headers = { "content-type": type };
      const { status, body } = await call("PATCH", "/v1/merchant", { body: { city: type }, headers });
      expect([status, body.city]).toEqual([200, type]);
    }
  });
});

describe("a field that nobody asked for", () => {
  const writes = ["post", "put", "patch", "delete"];

  /** Callbacks are read by the provider's adapter. */
  const isOurs = (path: string) => path.startsWith("/v1/") && !path.startsWith("/v1/provider-webhooks/");

  it("is named by every write, also by those that take no body", async () => {
    const { paths } = (await call("GET", "/openapi.json")).body;
    const asked = Object.entries<object>(paths).flatMap(([path, item]) =>
      isOurs(path) ? Object.keys(item).map((method) => [method, path] as const) : [],
    );
    const names = asked.filter(([method]) => writes.includes(method));
    expect(names.length).toBeGreaterThan(50);
    for (const [method, path] of names) {
      const { status, body } = await call(method.toUpperCase(), path.replaceAll(/{\w+}/g, "x"), {
        body: { colour: "red" },
        headers: { "idempotency-key": path },
      });
      expect([method, path, status, body.errors]).toEqual([
        ...[method, path, 400],
        expect.arrayContaining([expect.objectContaining({ pointer: "/colour", code: "unknown_key" })]),
      ]);
    }
  });

  it("is not lost under another type either, where a write takes no body", async () => {
    for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
      const headers = { "content-type": type };
      const { status, body } = await call("POST", "/v1/payment-links/x/list", {
        body: "colour=red",
        headers,
      });
      expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
    }
  });

  it("nor does one that takes no body take anything but an empty object; nothing at all is fine", async () => {
    const at = (body?: unknown, headers = {}) =>
      call("POST", "/v1/payment-links/x/list", body === undefined ? { headers } : { body, headers });
    for (const body of ["[]", "null", '"red"', "1"])
      expect((await at(body)).body).toMatchObject({ code: "validation_failed", errors: [{ pointer: "" }] });
    for (const body of [undefined, "", "{}"]) expect((await at(body)).body.code).toBe("not_found");
    for (const type of ["application/json", "application/x-www-form-urlencoded"])
      expect((await at(undefined, { "content-type": type })).body.code).toBe("not_found");
  });
});

describe("requests with a secret key", () => {
  it("429 beyond the merchant's rate, whichever of its keys; every answer says what is left", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const owner = await newCaller(database.db);
    const second = await newCaller(database.db, { merchantId: owner.merchantId });
    const ask = (who: Caller) => caller(app, who)("GET", "/v1/merchant");
    const first = await ask(owner);
    expect(first.headers.get("ratelimit-policy")).toBe('"secret-key";q=100;w=1');
    expect(first.headers.get("ratelimit")).toBe('"secret-key";r=99;t=1');
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, i) => ask(i % 2 === 0 ? owner : second)),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(refused[0]?.headers.get("ratelimit")).toMatch(/^"secret-key";r=0;t=1$/);
    expect((await ask(shop)).status).toBe(200);
  });

  it("a refusal has the headers as well: what was wrong counts like what was right", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const owner = await newCaller(database.db);
    const { status, headers } = await caller(app, owner)("PATCH", "/v1/merchant", { body: { feeBps: 1 } });
    expect([status, headers.get("ratelimit")]).toEqual([400, '"secret-key";r=99;t=1']);
  });
});
