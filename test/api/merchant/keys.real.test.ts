import { asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { KeyInput, Permission } from "#api";
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

  describe("with a key that is limited itself", () => {
    const hour = 3_600_000;
    const server = ["203.0.113.0/24", "2001:db8::/32"];
    const address = "203.0.113.7";
    const ends = () => new Date(time.now().getTime() + hour);
    async function limited(limits: { allowedIps?: readonly string[]; expiresAt?: Date }) {
      const made = await newCaller(database.db, { merchantId: owner.merchantId, ...limits });
      return (body: object = {}) =>
        caller(app, made)("POST", path, { address, body: { name: "n", preset: "full", ...body } });
    }

    it("201: asked for nothing, the new one has the same addresses and the same end", async () => {
      const expiresAt = ends();
      const issue = await limited({ allowedIps: server, expiresAt });
      const { status, body } = await issue();
      expect([status, body.allowedIps, body.expiresAt]).toEqual([201, server, expiresAt.toISOString()]);
      const ask = async (from: string) =>
        (await caller(app, body)("GET", "/v1/merchant", { address: from })).status;
      expect([await ask(address), await ask("198.51.100.1")]).toEqual([200, 403]);
    });

    it.each([
      ["a part of it", ["203.0.113.128/25", "2001:db8:1::/48"]],
      ["one address of it", ["203.0.113.9", "2001:db8::1"]],
      ["the same", ["203.0.113.77/24", "2001:db8::/32"]],
    ])("201: fewer addresses are given, and a sooner end: %s", async (_name, allowedIps) => {
      const issue = await limited({ allowedIps: server, expiresAt: ends() });
      const expiresAt = new Date(ends().getTime() - 1).toISOString();
      const { status, body } = await issue({ allowedIps, expiresAt });
      expect([status, body.allowedIps, body.expiresAt]).toEqual([201, allowedIps, expiresAt]);
    });

    it.each([
      ["everywhere", ["0.0.0.0/0"]],
      ["a wider range", ["203.0.112.0/23"]],
      ["a wider range with the same first address", ["203.0.113.0/23"]],
      ["the range beside it", ["203.0.114.0/24"]],
      ["another address", ["203.0.112.255"]],
      ["everywhere in IPv6", ["::/0"]],
      ["a wider range in IPv6", ["2001:db8::/31"]],
      ["another address in IPv6", ["2001:db9::1"]],
      ["every IPv4 address, as IPv6", ["::ffff:0:0/96"]],
    ])("403 key_limits_exceeded for %s, pointing to it, and nothing is made", async (_name, wider) => {
      const issue = await limited({ allowedIps: server });
      const before = await audit();
      const { status, body } = await issue({ allowedIps: ["203.0.113.1", ...wider] });
      expect([status, body.code, body.detail]).toEqual([
        403,
        "key_limits_exceeded",
        `A key makes none that works from more addresses or for longer than itself: ${wider} is not within its allowedIps. Leave it out to have the same, ask for less, or use a key without this limit.`,
      ]);
      expect(body.errors.map((each: { pointer: string }) => each.pointer)).toEqual(["/allowedIps/1"]);
      expect(await audit()).toEqual(before);
    });

    it("403 key_limits_exceeded for a later end, pointing to it; the same end is given", async () => {
      const expiresAt = ends();
      const issue = await limited({ expiresAt });
      const later = new Date(expiresAt.getTime() + 1).toISOString();
      const { status, body } = await issue({ expiresAt: later });
      expect([status, body.code]).toEqual([403, "key_limits_exceeded"]);
      expect(body.errors).toEqual([
        { pointer: "/expiresAt", code: body.code, detail: expect.stringContaining(expiresAt.toISOString()) },
      ]);
      expect((await issue({ expiresAt: expiresAt.toISOString() })).status).toBe(201);
    });

    it("201: a publishable key is for pages everywhere, and ends with the key that made it", async () => {
      const expiresAt = ends();
      const made = await newCaller(database.db, {
        merchantId: owner.merchantId,
        allowedIps: server,
        expiresAt,
      });
      const { status, body } = await caller(app, made)("POST", path, {
        address,
        body: { kind: "pk", name: "shop" },
      });
      expect([status, body.allowedIps, body.expiresAt]).toEqual([201, null, expiresAt.toISOString()]);
    });
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
  const make = async (body: object = { permissions: ["merchant:manage"] }) =>
    (await call("POST", path, { body: { name: "server", ...body } })).body;

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

  describe("of keys with limits", () => {
    const limits = { allowedIps: ["203.0.113.0/24"], expiresAt: "2026-12-24T00:00:00.000Z" };
    const permitted = { permissions: ["keys:manage"] as const };
    const from = { address: "203.0.113.7", body: {} };
    const rotate = (key: string, id: string) => caller(app, { key })("POST", `${path}/${id}/rotate`, from);
    const server = async (change: Partial<KeyInput> = {}) => {
      const expiresAt = new Date(limits.expiresAt);
      const { merchantId } = owner;
      return newCaller(database.db, { ...permitted, ...limits, expiresAt, ...change, merchantId });
    };

    it("201: the new one has those of the old one, whoever asks: a key without any, or itself", async () => {
      const old = await make({ ...permitted, ...limits });
      const next = await call("POST", `${path}/${old.id}/rotate`);
      expect(next.body).toMatchObject(limits);
      expect((await rotate(next.body.key, next.body.id)).body).toMatchObject(limits);
    });

    it("201: a narrower one is replaced by a wider one and stays narrower", async () => {
      const narrower = { allowedIps: ["203.0.113.7"], expiresAt: "2026-12-23T00:00:00.000Z" };
      const old = await make({ ...permitted, ...narrower });
      expect((await rotate((await server()).key, old.id)).body).toMatchObject(narrower);
    });

    it.each([
      [
        "works from everywhere",
        { expiresAt: limits.expiresAt },
        "the new one would have no allowedIps and work from everywhere",
      ],
      [
        "works from elsewhere",
        { ...limits, allowedIps: ["203.0.113.7", "203.0.114.0/24"] },
        "203.0.114.0/24 is not within its allowedIps",
      ],
      ["never ends", { allowedIps: limits.allowedIps }, `its expiresAt is ${limits.expiresAt}`],
      [
        "ends later",
        { ...limits, expiresAt: "2026-12-24T00:00:00.001Z" },
        `its expiresAt is ${limits.expiresAt}`,
      ],
    ])("403 key_limits_exceeded for one that %s, which stays as it is", async (_name, of, why) => {
      const old = await make({ ...permitted, ...of });
      const { status, body } = await rotate((await server()).key, old.id);
      expect(body).not.toHaveProperty("errors");
      expect([status, body.code, body.detail]).toEqual([
        403,
        "key_limits_exceeded",
        `A key makes none that works from more addresses or for longer than itself: ${why}. Use a key without this limit.`,
      ]);
      expect((await call("POST", `${path}/${old.id}/rotate`)).status).toBe(201);
    });
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

describe("a key bound to addresses", () => {
  it.each([
    ["203.0.113.7", 200],
    ["::ffff:203.0.113.7", 200],
    ["203.0.114.7", 403],
    ["2001:db8::1", 200],
    ["2001:db9::1", 403],
    [undefined, 403],
  ])("from %s: %s", async (address, status) => {
    const { key } = await newCaller(database.db, { allowedIps: ["203.0.113.0/24", "2001:db8::/32"] });
    const answer = await caller(app, { key })("GET", "/v1/merchant", { ...(address ? { address } : {}) });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe("address_not_allowed");
  });

  it("of one address takes that one", async () => {
    const { key } = await newCaller(database.db, { allowedIps: ["203.0.113.7"] });
    const ask = async (address: string) =>
      (await caller(app, { key })("GET", "/v1/merchant", { address })).status;
    expect([await ask("203.0.113.7"), await ask("203.0.113.8")]).toEqual([200, 403]);
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
  });
});
