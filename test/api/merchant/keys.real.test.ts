/** The life of a key over HTTP: made, listed, rotated, revoked; and what is noted of that. */
import { asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { Permission } from "#api";
import { systemClock, systemRandom } from "#kernel/system";
import { permissions } from "../../../api/http/permissions.ts";
import { idempotencyKey } from "../../../api/http/tables.ts";
import { makeKey } from "../../../api/merchant/key.ts";
import { apiKey, auditEntry } from "../../../api/merchant/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { now, world } from "../world.ts";

const database = sharedDatabase();

/** Time that the test moves: rotated keys end, cached ones are looked at again. */
let elapsedMs = 0;
const time = {
  now: () => new Date(now.getTime() + elapsedMs),
  monotonicMs: () => elapsedMs,
  sleep: systemClock.sleep,
};
const open = (options: Parameters<typeof world>[0] = {}) => world({ db: database.db, time, ...options }).app;

let app: ReturnType<typeof open>;
let owner: Caller;
let call: ReturnType<typeof caller>;
beforeEach(async () => {
  app = open();
  owner = await newCaller(database.db);
  call = caller(app, owner);
});

const path = "/v1/api-keys";
const works = async (key: string, at = "/v1/merchant") => (await caller(app, { key })("GET", at)).status;
const make = async (body: object = { permissions: ["merchant:manage"] }) =>
  (await call("POST", path, { body: { name: "server", ...body } })).body;
const audit = () =>
  database.db.pool
    .select()
    .from(auditEntry)
    .where(eq(auditEntry.merchantId, owner.merchantId))
    .orderBy(asc(auditEntry.id));

describe("POST /v1/api-keys", () => {
  it("201: a secret key, shown once; its row holds no key", async () => {
    const input = {
      name: " shop <b>server</b> ",
      permissions: ["payments:write", "x402:manage", "payments:write"],
      allowedIps: ["203.0.113.0/24"],
      expiresAt: "2026-08-12T11:30:00+02:00",
    };
    const { status, headers, body } = await call("POST", path, { body: input });
    expect(status).toBe(201);
    const { id, key, keyId, last4, ...rest } = body;
    expect(rest).toEqual({
      kind: "sk",
      name: "shop server",
      permissions: ["payments:write", "x402:manage"],
      allowedOrigins: null,
      allowedIps: ["203.0.113.0/24"],
      createdBy: owner.keyId,
      createdAt: time.now().toISOString(),
      lastUsedAt: null,
      expiresAt: "2026-08-12T09:30:00.000Z",
      revokedAt: null,
    });
    expect(id).toMatch(/^key_[0-9A-Z]{26}$/);
    expect(headers.get("location")).toBe(`${path}/${id}`);
    expect(headers.get("cache-control")).toMatch(/no-store/);
    expect(key).toMatch(/^sk_[0-9A-Za-z]{50}$/);
    expect([key.slice(3, 15), key.slice(-4)]).toEqual([keyId, last4]);
    const dump = JSON.stringify([
      await database.db.pool.select().from(apiKey).where(eq(apiKey.id, id)),
      await audit(),
      await database.db.pool.select().from(idempotencyKey),
    ]);
    expect(dump).not.toContain(key.slice(15, 47));
    const listed = (await call("GET", path)).body.find((each: { id: string }) => each.id === id);
    expect(listed).toEqual({ id, keyId, last4, ...rest });
  });

  it("201: a publishable key, without permissions", async () => {
    const allowedOrigins = ["https://Shop.Example", "https://*.shop.example:8443", "https://shop.example"];
    const { status, body } = await call("POST", path, {
      body: { kind: "pk", name: "shop", allowedOrigins },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: "pk",
      permissions: [],
      allowedOrigins: ["https://shop.example", "https://*.shop.example:8443"],
    });
    expect(body.key).toMatch(/^pk_/);
  });

  it.each([
    ["full", permissions],
    ["read-only", permissions.filter((each) => each.endsWith(":read"))],
    ["checkout-backend", ["payments:write", "links:manage"]],
    ["accounting", ["payments:read", "invoices:read", "ledger:read"]],
  ])("the preset %s", async (preset, granted) => {
    const { body } = await call("POST", path, { body: { name: "preset", preset } });
    expect([...body.permissions].sort()).toEqual([...granted].sort());
  });

  it("403 permission_denied: a key may do no more than the one that makes it; what is implied may be given", async () => {
    const made = await newCaller(database.db, {
      merchantId: owner.merchantId,
      permissions: ["keys:manage", "x402:manage"],
    });
    const issue = (given: readonly Permission[]) =>
      caller(app, made)("POST", path, { body: { name: "n", permissions: given } });
    expect((await issue(["x402:read", "keys:manage"])).status).toBe(201);
    const before = await audit();
    expect((await issue(["x402:manage", "refunds:write"])).body).toMatchObject({
      status: 403,
      code: "permission_denied",
      permission: "refunds:write",
    });
    const full = await caller(app, made)("POST", path, { body: { name: "n", preset: "full" } });
    expect(full.status).toBe(403);
    expect(await audit()).toEqual(before);
  });

  it.each([
    ["neither permissions nor a preset", { name: "n" }, "/permissions"],
    ["both", { name: "n", permissions: ["x402:read"], preset: "full" }, "/permissions"],
    ["no permission at all", { name: "n", permissions: [] }, "/permissions"],
    ["a permission that is none", { name: "n", permissions: ["x402:write"] }, "/permissions/0"],
    ["a preset of a publishable key", { kind: "pk", name: "n", preset: "full" }, "/preset"],
    ["origins of a secret key", { name: "n", preset: "full", allowedOrigins: [] }, "/allowedOrigins"],
    ["a name that cleans to nothing", { name: "<b>", preset: "full" }, "/name"],
    [
      "an address that is none",
      { name: "n", preset: "full", allowedIps: ["203.0.113.0/33"] },
      "/allowedIps/0",
    ],
    [
      "an expiry that is past",
      { name: "n", preset: "full", expiresAt: "2026-08-11T09:30:00Z" },
      "/expiresAt",
    ],
    ["an expiry that is no time", { name: "n", preset: "full", expiresAt: "tomorrow" }, "/expiresAt"],
    ["http", { kind: "pk", name: "n", allowedOrigins: ["http://shop.example"] }, "/allowedOrigins/0"],
    ["a path", { kind: "pk", name: "n", allowedOrigins: ["https://shop.example/a"] }, "/allowedOrigins/0"],
    ["any host", { kind: "pk", name: "n", allowedOrigins: ["https://*"] }, "/allowedOrigins/0"],
    [
      "any host of a top domain",
      { kind: "pk", name: "n", allowedOrigins: ["https://*.com"] },
      "/allowedOrigins/0",
    ],
    [
      "a star inside",
      { kind: "pk", name: "n", allowedOrigins: ["https://a.*.shop.example"] },
      "/allowedOrigins/0",
    ],
    ["an unknown member", { name: "n", preset: "full", merchantId: "mer_1" }, "/merchantId"],
  ])("400 validation_failed for %s, pointing to it", async (_name, body, pointer) => {
    elapsedMs = 0;
    const answer = await call("POST", path, { body });
    expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
    expect(answer.body.errors.map((each: { pointer: string }) => each.pointer)).toEqual([pointer]);
  });
});

describe("GET /v1/api-keys", () => {
  it("200: the merchant's own in pages, newest first, ended ones included", async () => {
    for (const name of ["a", "b", "c"])
      await call("POST", path, { body: { name, permissions: ["x402:read"] } });
    await newCaller(database.db);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await call("GET", `${path}?limit=2${cursor}`);
      seen.push(...page.body.map(({ id }: { id: string }) => id));
      const next = page.headers.get("next-cursor");
      cursor = next === null ? "" : `&cursor=${next}`;
    } while (cursor !== "");
    const mine = await database.db.pool
      .select({ id: apiKey.id })
      .from(apiKey)
      .where(eq(apiKey.merchantId, owner.merchantId))
      .orderBy(asc(apiKey.id));
    expect(seen).toEqual(mine.map(({ id }) => id).reverse());
    expect(seen).toHaveLength(4);
  });
});

describe("POST /v1/api-keys/{id}/rotate", () => {
  it("201: a key like the old one, which stays good for the grace and no longer", async () => {
    const old = await make({ permissions: ["merchant:manage"], allowedIps: ["0.0.0.0/0"] });
    const { status, body } = await call("POST", `${path}/${old.id}/rotate`, { body: { graceSeconds: 60 } });
    expect(status).toBe(201);
    const like = ({ id: _i, key: _k, keyId: _d, last4: _l, createdAt: _c, ...rest }: typeof old) => rest;
    expect(like(body)).toEqual(like(old));
    expect(body.key).not.toBe(old.key);
    const from = { address: "203.0.113.9" };
    const status1 = async (key: string) => (await caller(app, { key })("GET", "/v1/merchant", from)).status;
    expect([await status1(old.key), await status1(body.key)]).toEqual([200, 200]);
    elapsedMs += 59_999;
    expect(await status1(old.key)).toBe(200);
    elapsedMs += 1;
    expect([await status1(old.key), await status1(body.key)]).toEqual([401, 200]);
  });

  it("a key in its grace makes none that outlives it", async () => {
    const old = await make({ permissions: ["keys:manage"] });
    await call("POST", `${path}/${old.id}/rotate`, { body: { graceSeconds: 60 } });
    const end = new Date(time.now().getTime() + 60_000).toISOString();
    const at = caller(app, { key: old.key });
    const made = await at("POST", path, { body: { name: "spare", permissions: ["keys:manage"] } });
    expect([made.status, made.body.expiresAt]).toEqual([201, end]);
    const own = await make({ permissions: ["keys:manage"] });
    const refused = await at("POST", `${path}/${own.id}/rotate`);
    expect([refused.status, refused.body.code]).toEqual([403, "key_limits_exceeded"]);
    elapsedMs += 60_000;
    expect([await works(old.key, path), await works(made.body.key, path)]).toEqual([401, 401]);
  });

  it("takes a day without a body, and ends the old key at once with no grace", async () => {
    const old = await make();
    const next = (await call("POST", `${path}/${old.id}/rotate`)).body;
    const revokedAt = async (id: string) =>
      (await call("GET", path)).body.find((each: { id: string }) => each.id === id).revokedAt;
    expect(new Date(await revokedAt(old.id)).getTime() - time.now().getTime()).toBe(86_400_000);
    await call("POST", `${path}/${next.id}/rotate`, { body: { graceSeconds: 0 } });
    elapsedMs += 5_000;
    expect(await works(next.key)).toBe(401);
  });

  it("409 key_revoked: a replaced or ended key is not replaced again", async () => {
    const old = await make();
    await call("POST", `${path}/${old.id}/rotate`);
    const again = await call("POST", `${path}/${old.id}/rotate`);
    expect([again.status, again.body.code]).toEqual([409, "key_revoked"]);
    const ended = await make();
    await call("DELETE", `${path}/${ended.id}`);
    expect((await call("POST", `${path}/${ended.id}/rotate`)).body.code).toBe("key_revoked");
  });

  it("of many rotations at once one wins", async () => {
    const old = await make();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call("POST", `${path}/${old.id}/rotate`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it("403 permission_denied: a stronger key is not handed to one that may less", async () => {
    const strong = await make({ preset: "full" });
    const weak = await newCaller(database.db, { merchantId: owner.merchantId, permissions: ["keys:manage"] });
    const refused = await caller(app, weak)("POST", `${path}/${strong.id}/rotate`, { body: {} });
    expect([refused.status, refused.body.code]).toEqual([403, "permission_denied"]);
    elapsedMs += 5_000;
    expect(await works(strong.key)).toBe(200);
  });

  it.each([-1, 604_801, 1.5, "60"])("400 for a grace of %j", async (graceSeconds) => {
    const old = await make();
    const { status, body } = await call("POST", `${path}/${old.id}/rotate`, { body: { graceSeconds } });
    expect([status, body.errors[0].pointer]).toEqual([400, "/graceSeconds"]);
  });
});

describe("DELETE /v1/api-keys/{id}", () => {
  it("204: refused within 5 seconds; done twice it changes nothing, and it ends a grace early", async () => {
    const { body } = await call("POST", path, { body: { name: "n", permissions: ["merchant:manage"] } });
    expect(await works(body.key)).toBe(200);
    await call("POST", `${path}/${body.id}/rotate`);
    for (const _ of [1, 2]) expect((await call("DELETE", `${path}/${body.id}`)).status).toBe(204);
    elapsedMs += 5_000;
    expect(await works(body.key)).toBe(401);
    expect((await audit()).filter(({ action }) => action === "key.revoked")).toHaveLength(1);
  });

  it("404: a foreign key, a missing one and text that is none answer alike, and nothing changes", async () => {
    const stranger = caller(app, await newCaller(database.db));
    const { body: mine } = await call("POST", path, {
      body: { name: "n", permissions: ["merchant:manage"] },
    });
    const before = await audit();
    const plain = ({ status, body }: { status: number; body: object }) => ({
      status,
      body: { ...body, instance: "", requestId: "" },
    });
    const missing = plain(await stranger("DELETE", `${path}/key_01K2C0Z0000000000000000000`));
    expect(missing.status).toBe(404);
    for (const id of [mine.id, "nonsense", "mer_01K2C0Z0000000000000000000"]) {
      expect(plain(await stranger("DELETE", `${path}/${id}`))).toEqual(missing);
      expect(plain(await stranger("POST", `${path}/${id}/rotate`, { body: {} }))).toEqual(missing);
    }
    elapsedMs += 5_000;
    expect(await works(mine.key)).toBe(200);
    expect(await audit()).toEqual(before);
  });
});

describe("what is done to keys", () => {
  it("is noted with the key that did it, and the note cannot be changed", async () => {
    const { body: old } = await call("POST", path, { body: { name: "n", permissions: ["x402:read"] } });
    const { body: next } = await call("POST", `${path}/${old.id}/rotate`, { body: { graceSeconds: 5 } });
    await call("DELETE", `${path}/${next.id}`);
    const made = { kind: "sk", permissions: ["x402:read"] };
    const by = { actor: owner.keyId };
    const noted = (await audit()).map(({ actor, action, subject, detail }) => ({
      actor,
      action,
      subject,
      detail,
    }));
    expect(noted).toHaveLength(5);
    expect(noted).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ actor: null, action: "key.created" }),
        { ...by, action: "key.created", subject: old.id, detail: { ...made, keyId: old.keyId } },
        { ...by, action: "key.created", subject: next.id, detail: { ...made, keyId: next.keyId } },
        { ...by, action: "key.revoked", subject: next.id, detail: { keyId: next.keyId } },
        {
          ...by,
          action: "key.rotated",
          subject: old.id,
          detail: { keyId: old.keyId, replacedBy: next.keyId, graceSeconds: 5 },
        },
      ]),
    );
    for (const change of [
      () => database.db.pool.update(auditEntry).set({ actor: "x" }),
      () => database.db.pool.delete(auditEntry),
    ])
      await expect(change()).rejects.toMatchObject({ cause: { code: "42501" } });
  });
});

describe("bad keys from one address", () => {
  it("429 after some, with Retry-After; another address and a good key from this one are served", async () => {
    const limited = open({ rateLimits: "on" });
    const guess = (address: string) =>
      caller(limited, { key: makeKey("sk", systemRandom) })("GET", "/v1/merchant", { address });
    const good = caller(limited, owner);
    expect((await good("GET", "/v1/merchant", { address: "192.0.2.1" })).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 30 }, () => guess("192.0.2.1")));
    const refused = answers.filter(({ status }) => status === 429);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(refused.length).toBeGreaterThanOrEqual(10);
    expect(refused[0]?.body.code).toBe("rate_limited");
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("ratelimit-policy")).toBe('"failed-authentication";q=1;w=1');
    expect((await guess("192.0.2.2")).status).toBe(401);
    expect((await good("GET", "/v1/merchant", { address: "192.0.2.1" })).status).toBe(200);
    // of one that was never good in this process nobody knows, since it is not looked up
    const fresh = caller(limited, await newCaller(database.db));
    expect((await fresh("GET", "/v1/merchant", { address: "192.0.2.1" })).status).toBe(429);
    expect((await fresh("GET", "/v1/merchant", { address: "192.0.2.2" })).status).toBe(200);
  });

  it.each([
    ["any address of its network of IPv6", (i: number) => `2001:db8:1:2:${i % 2 === 0 ? ":" : "a:b:c:"}${i}`],
    ["IPv4 in IPv6", (i: number) => `${i % 2 === 0 ? "::ffff:" : ""}192.0.2.3`],
  ])("429 also where it is written as %s", async (_, address) => {
    const limited = open({ rateLimits: "on" });
    const guess = (at: string) =>
      caller(limited, { key: makeKey("sk", systemRandom) })("GET", "/v1/merchant", { address: at });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(address(i))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await guess("2001:db8:1:3::1")).status).toBe(401);
  });
});
