import { beforeAll, describe, expect, it } from "vitest";
import { findOrCreateCustomer } from "../../../api/customer/verbs.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, caller, newCaller } from "../caller.ts";
import { newId, now, world } from "../world.ts";

const database = sharedDatabase();
let merchantId: string;
let call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
beforeAll(async () => {
  const { app } = world({ db: database.db });
  const who = await newCaller(database.db);
  ({ merchantId } = who);
  const plain = caller(app, who);
  call = (method, path, body, headers = {}) => plain(method, path, { body, headers });
});

const ada = { name: "Ada", email: "Ada@Shop.example" };
let count = 0;
const somebody = () => ({ name: "Somebody", email: `somebody${++count}@shop.example` });

describe("POST /v1/customers", () => {
  it("adds one, and shows it alike in every place", async () => {
    const made = await call("POST", "/v1/customers", { ...ada, taxId: "PT1", metadata: { tier: "gold" } });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^cus_/),
      ...ada,
      taxId: "PT1",
      address: null,
      metadata: { tier: "gold" },
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
    });
    expect(made.headers.get("location")).toBe(`/v1/customers/${made.body.id}`);
    expect((await call("GET", `/v1/customers/${made.body.id}`)).body).toEqual(made.body);
    expect((await call("GET", "/v1/customers?email=ADA%40shop.example")).body).toEqual([made.body]);
  });

  it("refuses an email that another has, in whatever capitals", async () => {
    const told = await call("POST", "/v1/customers", { ...ada, email: "ADA@SHOP.EXAMPLE" });
    expect([told.status, told.body.code, told.body.errors[0].pointer]).toEqual([
      409,
      "email_taken",
      "/email",
    ]);
  });

  it("with a key is done once", async () => {
    const [body, headers] = [somebody(), { "idempotency-key": "add-one" }];
    const first = await call("POST", "/v1/customers", body, headers);
    const again = await call("POST", "/v1/customers", body, headers);
    expect([again.status, again.body, again.headers.get("idempotent-replayed")]).toEqual([
      201,
      first.body,
      "true",
    ]);
  });

  it.each([
    [{ name: "x" }, "/email"],
    [{ email: "x@y.example" }, "/name"],
    [{ name: "x", email: "nobody" }, "/email"],
    [{ name: " ", email: "x@y.example" }, "/name"],
    [{ name: "a\u0007b", email: "x@y.example" }, "/name"],
    [{ name: "x", email: "x@y.example", phone: "1" }, "/phone"],
    [{ name: "x", email: "x@y.example", metadata: { "x402.a": "1" } }, "/metadata/x402.a"],
    [{ name: "x", email: "x@y.example", taxId: 7 }, "/taxId"],
  ])("refuses %j at %s", async (body, pointer) => {
    const told = await call("POST", "/v1/customers", body);
    expect([told.status, told.body.code]).toEqual([400, "validation_failed"]);
    expect(told.body.errors.map((each: { pointer: string }) => each.pointer)).toContain(pointer);
  });
});

describe("PATCH /v1/customers/{id}", () => {
  it("changes what is given and nothing else; null takes a value away", async () => {
    const { body: made } = await call("POST", "/v1/customers", { ...somebody(), taxId: "A", address: "B" });
    const told = await call("PATCH", `/v1/customers/${made.id}`, { name: "Renamed", taxId: null });
    expect([told.status, told.body]).toEqual([200, { ...made, name: "Renamed", taxId: null }]);
  });

  it("refuses an email that another has; its own in other capitals is fine", async () => {
    const { body: made } = await call("POST", "/v1/customers", somebody());
    const path = `/v1/customers/${made.id}`;
    expect((await call("PATCH", path, { email: ada.email })).body.code).toBe("email_taken");
    const own = made.email.toUpperCase();
    expect((await call("PATCH", path, { email: own })).body.email).toBe(own);
  });

  it("is 404 for what is not there", async () => {
    for (const id of [newId("cus"), "cus_x", "x"])
      expect((await call("PATCH", `/v1/customers/${id}`, { name: "x" })).status).toBe(404);
  });
});

describe("GET /v1/customers", () => {
  it("pages newest first", async () => {
    for (let i = 0; i < 3; i += 1) await call("POST", "/v1/customers", somebody());
    const all = (await call("GET", "/v1/customers")).body.map(({ id }: { id: string }) => id);
    const first = await call("GET", "/v1/customers?limit=2");
    const cursor = first.headers.get("next-cursor");
    const second = await call("GET", `/v1/customers?limit=200&cursor=${cursor}`);
    const paged = [...first.body, ...second.body].map(({ id }: { id: string }) => id);
    expect(paged).toEqual(all);
    expect([...paged].sort().reverse()).toEqual(paged);
  });
});

describe("findOrCreateCustomer", () => {
  const making = { newId, now: () => now };
  const find = (email: string, name = "N") =>
    database.db.tx((tx) => findOrCreateCustomer(tx, making, { merchantId, email, name }));

  it("20 at once for one email, in several capitals, make one", async () => {
    const names = Array.from({ length: 20 }, (_, i) => (i % 2 ? "once@b.example" : "ONCE@b.example"));
    const rows = await Promise.all(names.map((email) => find(email)));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    const kept = await database.query("SELECT id FROM customer WHERE email_key = 'once@b.example'");
    expect(kept).toEqual([{ id: rows[0]?.id }]);
  });

  it("gives one that is there, name and all", async () => {
    const { body: made } = await call("POST", "/v1/customers", somebody());
    expect(await find(made.email.toUpperCase(), "Another")).toMatchObject({ id: made.id, name: made.name });
  });
});
