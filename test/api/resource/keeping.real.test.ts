/** Reading resources, changing them, and who may. */
import { asc, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { resource } from "../../../api/resource/tables.ts";
import { findPayables } from "../../../facilitator/payable/find.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { type Caller, type Keeping, path, startKeeping, terms } from "./keeping.ts";

let db: Keeping["db"];
let database: Keeping["database"];
let caller: Keeping["caller"];
let call: Keeping["call"];
beforeAll(async () => {
  ({ db, database, caller, call } = await startKeeping());
});
afterAll(() => database.drop());

let shop: Caller;
beforeEach(async () => {
  shop = await caller();
});

describe("GET /v1/x402/resources", () => {
  it("200: the merchant's live ones in an object, newest first", async () => {
    const ids: unknown[] = [];
    for (let i = 0; i < 3; i += 1) ids.push((await call(shop, "POST", path, terms())).body.id);
    await call(shop, "DELETE", `${path}/${ids[1]}`);
    await call(await caller(), "POST", path, terms());
    const { status, body, headers } = await call(shop, "GET", path);
    expect(status).toBe(200);
    const mine = await db.pool
      .select({ id: resource.id })
      .from(resource)
      .where(sql`merchant_id = ${shop.merchantId} AND archived_at IS NULL`)
      .orderBy(asc(resource.id));
    expect(body.resources.map(({ id }) => id)).toEqual(mine.map(({ id }) => id).reverse());
    expect(mine).toHaveLength(2);
    expect(headers.get("link")).toBeNull();
    expect(body.resources[0]).not.toHaveProperty("findings");
  });

  it("pages by cursor to the end, each once", async () => {
    for (let i = 0; i < 5; i += 1) await call(shop, "POST", path, terms());
    const seen: string[] = [];
    let next: string | null = `${path}?limit=2`;
    for (let pages = 0; next !== null && pages < 9; pages += 1) {
      const { body, headers } = await call(shop, "GET", next);
      seen.push(...body.resources.map(({ id }) => id));
      const link: string | undefined = /^<https:\/\/pay\.example(.+)>; rel="next"$/.exec(
        headers.get("link") ?? "",
      )?.[1];
      expect(headers.get("next-cursor") !== null).toBe(link !== undefined);
      next = link ?? null;
    }
    expect(seen).toHaveLength(5);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
  });

  it("400 for a limit out of range and for a cursor of somebody else", async () => {
    for (const limit of ["0", "201", "x", "-1"])
      expect((await call(shop, "GET", `${path}?limit=${limit}`)).status).toBe(400);
    for (let i = 0; i < 2; i += 1) await call(shop, "POST", path, terms());
    const cursor = (await call(shop, "GET", `${path}?limit=1`)).headers.get("next-cursor");
    const stolen = await call(await caller(), "GET", `${path}?cursor=${cursor}`);
    expect([stolen.status, stolen.body.code]).toEqual([400, "invalid_cursor"]);
    expect((await call(shop, "GET", `${path}?cursor=nonsense`)).body.code).toBe("invalid_cursor");
  });
});

describe("one resource", () => {
  it("200: read, listed and unlisted; done twice nothing more happens", async () => {
    const { body: made } = await call(shop, "POST", path, terms());
    const one = `${path}/${made.id}`;
    const { findings: _none, ...plain } = made;
    expect((await call(shop, "GET", one)).body).toEqual({ ...plain, lastProbe: null });
    for (const step of ["list", "list"] as const)
      expect((await call(shop, "POST", `${one}/${step}`)).body).toMatchObject({ id: made.id, listed: true });
    expect((await findPayables(db.pool, [{ by: "id", id: made.id }]))[0]?.listed).toBe(true);
    for (const step of ["unlist", "unlist"] as const)
      expect((await call(shop, "POST", `${one}/${step}`)).body).toMatchObject({ listed: false });
    const facts = await db.pool
      .select({ type: outbox.type })
      .from(outbox)
      .where(sql`subject = ${made.id}`)
      .orderBy(asc(outbox.id));
    expect(facts.map(({ type }) => type).sort()).toEqual([
      "x402.resource.listed",
      "x402.resource.registered",
      "x402.resource.unlisted",
    ]);
  });

  it("204: archived; then it is gone, its payable closed, its URL free for a new one", async () => {
    const same = terms({ listed: true });
    const { body: made } = await call(shop, "POST", path, same);
    const one = `${path}/${made.id}`;
    expect((await call(shop, "DELETE", one)).status).toBe(204);
    for (const [method, at] of [
      ["GET", one],
      ["DELETE", one],
      ["POST", `${one}/list`],
    ] as const)
      expect((await call(shop, method, at)).status).toBe(404);
    const [closed] = await findPayables(db.pool, [{ by: "id", id: made.id }]);
    expect([closed?.closedAt instanceof Date, closed?.listed]).toEqual([true, false]);
    const again = await call(shop, "POST", path, same);
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(made.id);
  });

  it("404: another merchant's is as if it were not there, and stays as it is", async () => {
    const { body: made } = await call(shop, "POST", path, terms());
    const stranger = await caller();
    const missing = await call(stranger, "GET", `${path}/x402r_01K2C0Z0000000000000000000`);
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/list"],
      ["POST", "/unlist"],
    ] as const) {
      const { status, body } = await call(stranger, method, `${path}/${made.id}${suffix}`);
      expect(status).toBe(404);
      expect({ ...body, instance: 0, requestId: 0 }).toEqual({ ...missing.body, instance: 0, requestId: 0 });
    }
    expect((await call(shop, "GET", `${path}/${made.id}`)).body).toMatchObject({ listed: false });
  });

  it("404: text that is no id, however it is spelt", async () => {
    for (const id of [
      "nonsense",
      "x402r_",
      "x402r_%27%20OR%201=1",
      "..%2F..%2Fetc",
      "%00",
      "pi_01K2C0Z0000000000000000000",
    ])
      expect((await call(shop, "GET", `${path}/${id}`)).status).toBe(404);
  });
});

describe("keys and permissions", () => {
  it("403: reading needs x402:read, changing x402:manage, and a secret key in any case", async () => {
    const reader = await caller(["x402:read"]);
    const nobody = await caller(["payments:read"]);
    const publishable = await caller(undefined, "pk");
    expect((await call(reader, "GET", path)).status).toBe(200);
    expect((await call(reader, "POST", path, terms())).body).toMatchObject({
      status: 403,
      code: "permission_denied",
      permission: "x402:manage",
    });
    expect((await call(nobody, "GET", path)).body).toMatchObject({ status: 403, permission: "x402:read" });
    expect((await call(publishable, "GET", path)).body).toMatchObject({
      status: 403,
      code: "secret_key_required",
    });
  });

  it("403: a secret key in a browser", async () => {
    expect((await call(shop, "GET", path, undefined, { origin: "https://shop.example" })).body).toMatchObject(
      { status: 403, code: "secret_key_in_browser" },
    );
  });
});
