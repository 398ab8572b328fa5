import { describe, expect, it } from "vitest";
import { revokeKey } from "#api";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller, operatorOf, read } from "../caller.ts";
import { clock, now, world } from "../world.ts";

const database = sharedDatabase();

type App = ReturnType<typeof world>["app"];
const open = (options: Parameters<typeof world>[0] = {}) => world({ db: database.db, ...options }).app;
/** A route that a publishable key may call. */
const path = "/v1/currencies";
const get = (app: App, key: string, origin?: string, at = path) =>
  caller(app, { key })("GET", at, { ...(origin ? { headers: { origin } } : {}) });
const preflight = async (app: App, origin: string) =>
  read(
    await app.request(path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    }),
  );
const readable = ({ headers }: { headers: Headers }) => headers.get("access-control-allow-origin");

describe("a publishable key", () => {
  it("works from a page of its origins and from no other, and from where there is no page", async () => {
    const app = open();
    const { key } = await newCaller(database.db, {
      kind: "pk",
      allowedOrigins: ["https://one.example", "https://*.many.example:8443"],
    });
    for (const origin of ["https://one.example", "https://a.many.example:8443", undefined]) {
      const answer = await get(app, key, origin);
      expect([origin, answer.status]).toEqual([origin, 200]);
      expect(readable(answer)).toBe(origin ?? null);
    }
    for (const origin of [
      "http://one.example",
      "https://one.example:8443",
      "https://two.one.example",
      "https://many.example:8443",
      "https://a.b.many.example:8443",
      "https://a.many.example",
      "https://evil-many.example:8443",
      "http://localhost:3000",
      "null",
    ]) {
      const answer = await get(app, key, origin);
      expect([origin, answer.status, answer.body.code]).toEqual([origin, 403, "origin_not_allowed"]);
      expect(readable(answer)).toBeNull();
    }
  });

  it("without a list follows the merchant's, and with an empty list works from no page", async () => {
    const app = open();
    const owner = await newCaller(database.db);
    const { key } = await newCaller(database.db, { merchantId: owner.merchantId, kind: "pk" });
    const closed = await newCaller(database.db, {
      merchantId: owner.merchantId,
      kind: "pk",
      allowedOrigins: [],
    });
    await caller(app, owner)("PATCH", "/v1/merchant", {
      body: { allowedOrigins: ["https://house.example"] },
    });
    expect((await get(app, key, "https://house.example")).status).toBe(200);
    expect((await get(app, closed.key, "https://house.example")).status).toBe(403);
  });

  it("carries no permissions: 403 secret_key_required on every route that needs one", async () => {
    const { key } = await newCaller(database.db, { kind: "pk", allowedOrigins: [] });
    for (const at of ["/v1/merchant", "/v1/api-keys", "/v1/x402/resources"])
      expect((await get(open(), key, undefined, at)).body).toMatchObject({
        status: 403,
        code: "secret_key_required",
      });
  });

  it("and a secret one: the secret key is accepted on its routes, from a page too; elsewhere not from a page", async () => {
    const { key } = await newCaller(database.db);
    const app = open();
    expect((await get(app, key, "https://shop.example")).status).toBe(200);
    expect((await get(app, key, "https://shop.example", "/v1/merchant")).body).toMatchObject({
      status: 403,
      code: "secret_key_in_browser",
    });
  });
});

describe("on a sandbox", () => {
  it("localhost always passes and an empty list means anybody; a list is kept otherwise", async () => {
    const app = open({ isSandbox: true });
    const listed = await newCaller(database.db, { kind: "pk", allowedOrigins: ["https://one.example"] });
    const empty = await newCaller(database.db, { kind: "pk" });
    const status = async (key: string, origin: string) => (await get(app, key, origin)).status;
    for (const origin of [
      "http://localhost:5173",
      "http://127.0.0.1",
      "http://[::1]:8080",
      "https://one.example",
    ])
      expect([origin, await status(listed.key, origin)]).toEqual([origin, 200]);
    expect(await status(listed.key, "https://two.example")).toBe(403);
    expect(await status(listed.key, "http://localhost.evil.example")).toBe(403);
    expect(await status(empty.key, "https://two.example")).toBe(200);
  });

  it("any page may read answers and refusals: the key alone decides", async () => {
    const { status, headers } = await preflight(open({ isSandbox: true }), "https://unheard-of.example");
    expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "https://unheard-of.example"]);
  });

  it("a secret key may be used from a page", async () => {
    const { key } = await newCaller(database.db);
    expect((await get(open({ isSandbox: true }), key, "http://localhost:5173", "/v1/merchant")).status).toBe(
      200,
    );
  });
});

describe("a preflight", () => {
  it("204 for an origin that some good publishable key allows, without credentials", async () => {
    await newCaller(database.db, { kind: "pk", allowedOrigins: ["https://*.wild.example"] });
    const { status, headers } = await preflight(open(), "https://a.wild.example");
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("https://a.wild.example");
    expect(headers.get("access-control-allow-methods")).toBe("GET, POST");
    expect(headers.get("access-control-allow-headers")).toBe(
      "Authorization, Content-Type, Idempotency-Key, Service-Version",
    );
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toMatch(/Origin/);
  });

  it("204 for an origin that a merchant's list allows, 403 once its last key has ended", async () => {
    const owner = await newCaller(database.db);
    const { keyId } = await newCaller(database.db, { merchantId: owner.merchantId, kind: "pk" });
    const change = { body: { allowedOrigins: ["https://listed.example"] } };
    await caller(open(), owner)("PATCH", "/v1/merchant", change);
    // One with a list of its own, empty or not, does not follow the merchant's.
    await newCaller(database.db, { merchantId: owner.merchantId, kind: "pk", allowedOrigins: [] });
    expect((await preflight(open(), "https://listed.example")).status).toBe(204);
    await revokeKey(operatorOf(database.db), { key: keyId });
    const refused = await preflight(open(), "https://listed.example");
    expect([refused.status, refused.body.code, readable(refused)]).toEqual([403, "origin_not_allowed", null]);
  });

  it("204 until the key that lists its origin expires, or is over that was replaced; each is asked for anew after 5 s", async () => {
    let elapsedMs = 0;
    const time = { ...clock, now: () => new Date(now.getTime() + elapsedMs), monotonicMs: () => elapsedMs };
    const app = open({ time });
    const end = new Date(now.getTime() + 60_000);
    const names = ["expiring", "replaced", "lasting", "late"].map((name) => `https://${name}.example`);
    const [expiring = "", replaced = "", lasting = "", late = ""] = names;
    const key = (origin: string, expiresAt: Date | null) =>
      newCaller(database.db, { kind: "pk", allowedOrigins: [origin], expiresAt });
    await key(expiring, end);
    const { keyId } = await key(replaced, null);
    await database.query("UPDATE api_key SET revoked_at = $1 WHERE key_id = $2", [end, keyId]);
    await key(lasting, null);
    const told = async () => {
      const answers = await Promise.all(names.map((origin) => preflight(app, origin)));
      return answers.map(({ status }) => status);
    };
    expect(await told()).toEqual([204, 204, 204, 403]);
    await key(late, null);
    elapsedMs += 4_999;
    expect(await told()).toEqual([204, 204, 204, 403]);
    elapsedMs += 1;
    expect(await told()).toEqual([204, 204, 204, 204]);
    elapsedMs = 60_000;
    expect(await told()).toEqual([403, 403, 204, 204]);
  });

  it("403 for an origin that nobody allows, and for one that a secret key could not have", async () => {
    await newCaller(database.db, { kind: "sk" });
    for (const origin of ["https://nobody.example", "null", "https://*.wild.example"])
      expect((await preflight(open(), origin)).status).toBe(403);
  });

  it("of an origin that is asked for too often is refused without a look at the database", async () => {
    const app = open({ rateLimits: "on" });
    const answers = await Promise.all(
      Array.from({ length: 70 }, () => preflight(app, "https://a.wild.example")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 403]));
  });
});

describe("an answer to a page", () => {
  it("may be read with the headers of the API; a refusal too, so that its reason shows", async () => {
    const { key } = await newCaller(database.db, { kind: "pk", allowedOrigins: ["https://page.example"] });
    const app = open();
    const good = await get(app, key, "https://page.example");
    expect(good.headers.get("access-control-expose-headers")).toMatch(/Request-Id.*Service-Version/);
    const refused = await get(app, "pk_wrong", "https://page.example");
    expect([refused.status, readable(refused)]).toEqual([401, "https://page.example"]);
    expect((await get(app, key)).headers.get("vary")).toMatch(/Origin/);
  });
});

describe("requests with a publishable key", () => {
  it("429 by address and by key, with what is left in the headers of every answer", async () => {
    const app = open({ rateLimits: "on" });
    const { key } = await newCaller(database.db, { kind: "pk" });
    const ask = (address: string) => caller(app, { key })("GET", path, { address });
    const first = await ask("192.0.2.1");
    expect(first.headers.get("ratelimit-policy")).toBe('"publishable-key";q=20;w=1');
    expect(first.headers.get("ratelimit")).toBe('"publishable-key";r=19;t=1');
    const one = await Promise.all(Array.from({ length: 30 }, () => ask("192.0.2.1")));
    const refused = one.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused[0]?.headers.get("ratelimit-policy")).toBe('"publishable-key-address";q=5;w=1');
    expect(refused[0]?.headers.get("ratelimit")).toMatch(/^"publishable-key-address";r=0;t=\d+$/);
    expect(refused[0]?.body).toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
    const many = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`198.51.100.${i}`)));
    const byKey = many.filter(({ status }) => status === 429);
    expect(byKey.length).toBeGreaterThan(0);
    expect(byKey[0]?.headers.get("ratelimit-policy")).toBe('"publishable-key";q=20;w=1');
  });
});
