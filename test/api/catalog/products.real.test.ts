import { beforeAll, describe, expect, it } from "vitest";
import { findProducts } from "../../../api/catalog/verbs/find.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, newCaller } from "../caller.ts";
import { newId, now, world } from "../world.ts";

let app: ReturnType<typeof world>["app"];
let owner: Caller;
let page: Caller;
let count = 0;
const database = sharedDatabase();
beforeAll(async () => {
  ({ app } = world({ db: database.db }));
  owner = await newCaller(database.db);
  const { merchantId } = owner;
  page = await newCaller(database.db, { merchantId, kind: "pk", allowedOrigins: ["https://shop.example"] });
});

const root = "/v1/catalog/products";
function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const key = { "idempotency-key": `k-${++count}` };
  return caller(app, owner)(method, path, { body, headers: { ...key, ...headers } });
}
const product = (change: Record<string, unknown> = {}) => ({
  sku: `sku-${++count}`,
  name: "Tea",
  prices: [
    { amount: "10.5", asset: "USD" },
    { amount: "1000", asset: "JPY" },
  ],
  ...change,
});
async function made(change: Record<string, unknown> = {}) {
  const answer = await call("POST", root, product(change));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}
const codeOf = ({ status, body }: Answer) => [status, body.code, body.errors?.[0]?.pointer];
const told = () => database.query("SELECT type, subject FROM outbox WHERE type LIKE 'product.%'");

describe("POST /v1/catalog/products", () => {
  it("adds one, with its prices in their order", async () => {
    const input = product({ merchantId: owner.merchantId, description: "Green", metadata: { shelf: "2" } });
    const answer = await call("POST", root, input);
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `${root}/${answer.body.id}`]);
    expect(answer.body).toEqual({
      ...input,
      id: expect.stringMatching(/^prod_/),
      prices: [
        { amount: "10.50", asset: "USD", formatted: "10.50 USD", display: "$10.50" },
        { amount: "1000", asset: "JPY", formatted: "1,000 JPY", display: "¥1,000" },
      ],
      active: true,
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
      version: 1,
    });
    expect((await call("GET", `${root}/${answer.body.id}`)).body).toEqual(answer.body);
  });

  it("describes it on several lines", async () => {
    const { id, description } = await made({ description: " Green,\r\nfrom Uji\n" });
    expect(description).toBe("Green,\nfrom Uji");
    expect((await call("GET", `${root}/${id}`)).body.description).toBe(description);
    const refused = await call("POST", root, product({ description: "Green\u0007" }));
    expect(codeOf(refused)).toEqual([400, "validation_failed", "/description"]);
  });

  it("takes a SKU once for each merchant", async () => {
    const { sku } = await made();
    expect(codeOf(await call("POST", root, product({ sku })))).toEqual([409, "sku_taken", "/sku"]);
    const other = caller(app, await newCaller(database.db));
    const headers = { "idempotency-key": "other" };
    expect((await other("POST", root, { body: product({ sku }), headers })).status).toBe(201);
  });

  it("20 at once with one SKU: one is made", async () => {
    const input = product();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call("POST", root, input)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });

  it("needs a key, and with it is done once", async () => {
    const input = product();
    const plain = caller(app, owner);
    expect(codeOf(await plain("POST", root, { body: input }))[1]).toBe("idempotency_key_required");
    const key = { "idempotency-key": "make-tea" };
    const first = await call("POST", root, input, key);
    expect((await call("POST", root, input, key)).body).toEqual(first.body);
    expect(codeOf(await call("POST", root, product(), key))[1]).toBe("idempotency_key_reused");
  });

  it.each([
    [{ sku: "" }, 400, "/sku"],
    [{ sku: "s".repeat(65) }, 400, "/sku"],
    [{ name: undefined }, 400, "/name"],
    [{ prices: [] }, 400, "/prices"],
    [{ prices: [{ amount: 1, asset: "USD" }] }, 400, "/prices/0/amount"],
    [{ prices: [{ amount: "-1", asset: "USD" }] }, 400, "/prices/0/amount"],
    [{ prices: [{ amount: "1.001", asset: "USD" }] }, 400, "/prices/0/amount"],
    [
      {
        prices: [
          { amount: "1", asset: "USD" },
          { amount: "2", asset: "USD" },
        ],
      },
      400,
      "/prices/1/asset",
    ],
    [{ prices: [{ amount: "1", asset: "XXX" }] }, 422, "/prices/0/asset"],
    [{ price: "1" }, 400, "/price"],
    [{ version: 1 }, 400, "/version"],
    [{ merchantId: "mer_01K2C0Z0000000000000000000" }, 403, "/merchantId"],
  ])("refuses %j", async (change, status, pointer) => {
    const answer = await call("POST", root, product(change));
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([status, pointer]);
  });
});

describe("PATCH /v1/catalog/products/{id}", () => {
  it("changes what is given, counts the version, and tells the house", async () => {
    const tea = await made();
    const prices = [{ amount: "3", asset: "EUR" }];
    const { status, body } = await call("PATCH", `${root}/${tea.id}`, { name: "Tea 2", prices });
    expect([status, body]).toEqual([
      200,
      {
        ...tea,
        name: "Tea 2",
        prices: [{ amount: "3.00", asset: "EUR", formatted: "3.00 EUR", display: "€3.00" }],
        version: 2,
      },
    ]);
    expect(await told()).toContainEqual({ type: "product.updated", subject: tea.id });
  });

  it("what was already so is no change: no version, no fact", async () => {
    const tea = await made({ description: "Green" });
    const same = { sku: tea.sku, name: tea.name, prices: product().prices, active: true, metadata: {} };
    expect((await call("PATCH", `${root}/${tea.id}`, same)).body).toEqual(tea);
    expect((await told()).filter(({ subject }) => subject === tea.id)).toEqual([]);
  });

  it("with a version that is past is a conflict that names the one now", async () => {
    const tea = await made();
    const path = `${root}/${tea.id}`;
    expect((await call("PATCH", path, { name: "A", version: 1 })).body.version).toBe(2);
    const late = await call("PATCH", path, { name: "B", version: 1 });
    expect([late.status, late.body.code, late.body.currentVersion]).toEqual([409, "version_conflict", 2]);
    expect(late.body.errors).toMatchObject([{ pointer: "/version" }]);
    expect((await call("GET", path)).body.name).toBe("A");
  });

  it("of 10 at once from one version one wins", async () => {
    const tea = await made();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => call("PATCH", `${root}/${tea.id}`, { name: `n${i}`, version: 1 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await call("GET", `${root}/${tea.id}`)).body.version).toBe(2);
  });

  it("refuses another's SKU, and is 404 for what is not there", async () => {
    const [one, two] = [await made(), await made()];
    expect(codeOf(await call("PATCH", `${root}/${two.id}`, { sku: one.sku }))[1]).toBe("sku_taken");
    expect((await call("PATCH", `${root}/${newId("prod")}`, { name: "x" })).status).toBe(404);
  });
});

describe("GET /v1/catalog/products", () => {
  it("shows a publishable key what is active, from a page of its origins", async () => {
    const [on, off] = [await made(), await made({ active: false })];
    const buyer = caller(app, page);
    const origin = { headers: { origin: "https://shop.example" } };
    const ids = async (path: string) =>
      (await buyer("GET", path, origin)).body.map(({ id }: { id: string }) => id);
    expect(await ids(root)).toContain(on.id);
    expect(await ids(root)).not.toContain(off.id);
    expect(await ids(`${root}?active=false`)).toEqual([]);
    expect((await buyer("GET", `${root}/${off.id}`, origin)).status).toBe(404);
    const readable = await buyer("GET", `${root}/${on.id}`, origin);
    expect(readable.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    const elsewhere = await buyer("GET", root, { headers: { origin: "https://other.example" } });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, "origin_not_allowed"]);
    expect((await call("GET", `${root}?active=false`)).body.map(({ id }: { id: string }) => id)).toContain(
      off.id,
    );
  });

  it("finds by the SKU as it was given, whatever was trimmed and composed of it", async () => {
    const given = " Cafe\u0301 ";
    const coffee = await made({ sku: given });
    expect(coffee.sku).toBe("Caf\u00e9");
    for (const sku of [given, coffee.sku])
      expect((await call("GET", `${root}?sku=${encodeURIComponent(sku)}`)).body).toEqual([coffee]);
    expect((await call("GET", `${root}?sku=%20`)).body).toEqual([]);
  });

  it("finds by SKU, pages, and refuses another merchant's id", async () => {
    const tea = await made();
    expect((await call("GET", `${root}?sku=${tea.sku}&merchantId=${owner.merchantId}`)).body).toEqual([tea]);
    const first = await call("GET", `${root}?limit=1`);
    expect([first.body.length, first.headers.get("next-cursor") !== null]).toEqual([1, true]);
    expect(codeOf(await call("GET", `${root}?merchantId=mer_01K2C0Z0000000000000000000`))).toEqual([
      403,
      "merchant_mismatch",
      "/query/merchantId",
    ]);
  });
});

describe("findProducts", () => {
  it("gives the merchant's own, by id, and leaves the rest out", async () => {
    const tea = await made();
    const stranger = await newCaller(database.db);
    const ids = [tea.id, tea.id, newId("prod"), "prod_x", "'"];
    expect([...(await findProducts(database.db.pool, owner.merchantId, ids)).keys()]).toEqual([tea.id]);
    expect((await findProducts(database.db.pool, stranger.merchantId, ids)).size).toBe(0);
  });
});
