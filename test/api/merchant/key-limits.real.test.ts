/** Keys that work from some addresses, or until a time: no other key reaches further through them. */
import { asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { KeyInput } from "#api";
import { auditEntry } from "../../../api/merchant/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { now, world } from "../world.ts";

const database = sharedDatabase();

let app: ReturnType<typeof world>["app"];
let owner: Caller;
let call: ReturnType<typeof caller>;
beforeEach(async () => {
  ({ app } = world({ db: database.db }));
  owner = await newCaller(database.db);
  call = caller(app, owner);
});

const path = "/v1/api-keys";
const make = async (body: object = { permissions: ["merchant:manage"] }) =>
  (await call("POST", path, { body: { name: "server", ...body } })).body;
const audit = () =>
  database.db.pool
    .select()
    .from(auditEntry)
    .where(eq(auditEntry.merchantId, owner.merchantId))
    .orderBy(asc(auditEntry.id));

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

describe("POST /v1/api-keys with a key that is limited itself", () => {
  const hour = 3_600_000;
  const server = ["203.0.113.0/24", "2001:db8::/32"];
  const address = "203.0.113.7";
  const ends = () => new Date(now.getTime() + hour);
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

describe("POST /v1/api-keys/{id}/rotate of keys with limits", () => {
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
