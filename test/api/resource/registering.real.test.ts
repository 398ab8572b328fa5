/** Registering resources: what is stored, projected, refused, and repeated. */
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idempotencyKey } from "../../../api/http/tables.ts";
import { resource } from "../../../api/resource/tables.ts";
import { agentUrl } from "../../../facilitator/payable/agent-url.ts";
import { findPayables } from "../../../facilitator/payable/find.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { payable } from "../../../facilitator/payable/tables.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { payableOf } from "../../facilitator/payable/shapes.ts";
import { baseUrl, newId, rail, shownRail } from "../world.ts";
import { type Caller, freshUrl, type Keeping, path, startKeeping, terms } from "./keeping.ts";

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

describe("POST /v1/x402/resources", () => {
  it("201: a new resource, projected for sale, with one fact", async () => {
    const url = freshUrl();
    const { status, headers, body } = await call(shop, "POST", path, {
      url,
      price: { amount: "0.01", asset: "USD" },
      description: "Weather\n<b>now</b>",
    });
    expect(status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = body;
    expect(id).toMatch(/^x402r_[0-9A-Z]{26}$/);
    expect(headers.get("location")).toBe(`${path}/${id}`);
    expect(createdAt).toBe("2026-08-11T09:30:00.000Z");
    expect(updatedAt).toBe(createdAt);
    const shown = shownRail(rail);
    expect(rest).toEqual({
      merchantId: shop.merchantId,
      url,
      description: "Weather now",
      mimeType: "application/json",
      price: { amount: "0.01", asset: "USD", formatted: "0.01 USD", display: "$0.01" },
      maxTimeoutSeconds: 300,
      listed: false,
      accepts: [shown, { ...shown, chain: "local" }],
      paymentFlow: "authorization",
      serviceName: null,
      tags: [],
      iconUrl: null,
      extensions: {},
      findings: [],
    });
    const [sold] = await findPayables(db.pool, [{ by: "url", url: `${url}?q=1` }]);
    expect(sold).toMatchObject({
      id,
      kind: "resource",
      merchantName: "Shop",
      feeBps: 50,
      price: { amount: 10_000n, asset: "USD" },
      listed: false,
      once: false,
    });
    const facts = await db.pool.select().from(outbox).where(sql`subject = ${id}`);
    expect(facts).toMatchObject([
      { type: "x402.resource.registered", merchantId: shop.merchantId, payload: { resourceId: id } },
    ]);
  });

  it("200: the same URL is the same resource, with its terms replaced and its listing kept", async () => {
    const first = await call(shop, "POST", path, terms({ listed: true, tags: ["a"], description: "old" }));
    const { id, url } = first.body;
    const again = await call(shop, "POST", path, {
      url: url.toUpperCase().replace("/ENDPOINT", "/endpoint"),
      price: { amount: "2", asset: "EUR" },
    });
    expect(again.status).toBe(200);
    expect(again.headers.get("location")).toBeNull();
    expect(again.body).toMatchObject({
      id,
      url,
      listed: true,
      tags: [],
      description: "",
      price: { amount: "2.00", asset: "EUR" },
      accepts: [{ asset: "EURC" }],
    });
    expect(await db.pool.select().from(payable).where(sql`url = ${url}`)).toMatchObject([
      { id, priceAmount: 2_000_000n, priceAsset: "EUR" },
    ]);
  });

  it("one of many at once is new, the others are the same resource", async () => {
    const same = terms();
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(shop, "POST", path, same)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200, 200, 200, 200, 200, 200, 200, 200, 200, 201,
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it("409 url_registered_elsewhere: a URL belongs to one merchant, until it is archived there", async () => {
    const same = terms();
    const held = await call(shop, "POST", path, same);
    const other = await caller();
    const refused = await call(other, "POST", path, same);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "url_registered_elsewhere" });
    expect(await db.pool.select().from(resource).where(sql`merchant_id = ${other.merchantId}`)).toEqual([]);
    expect((await call(shop, "DELETE", `${path}/${held.body.id}`)).status).toBe(204);
    expect((await call(other, "POST", path, same)).status).toBe(201);
  });

  it("422 url_not_allowed: the agent URL of a link is the link's, also while it is closed", async () => {
    const id = newId("plink");
    const link = {
      kind: "payment-link",
      id,
      merchantId: shop.merchantId,
      url: agentUrl(baseUrl, id),
    } as const;
    const put = (closedAt: Date | null) =>
      db.tx((tx) => projectPayable(tx, payableOf({ ...link, closedAt })));
    await put(new Date());
    const other = await caller();
    for (const url of [link.url, link.url.replace("https://pay.example", "HTTPS://PAY.example:443")])
      expect(await call(other, "POST", path, terms({ url }))).toMatchObject({
        status: 422,
        body: { code: "url_not_allowed", errors: [{ pointer: "/url" }] },
      });
    await put(null);
    const [found] = await findPayables(db.pool, [{ by: "url", url: link.url }]);
    expect(found).toMatchObject({ id, closedAt: null });
    expect((await call(other, "POST", path, terms({ url: `${baseUrl}/weather` }))).status).toBe(201);
  });

  it("takes chosen rails by slug or CAIP-2, once each", async () => {
    const rails = [
      { chain: "eip155:31337", asset: "USDC" },
      { chain: "local", asset: "USDC" },
    ];
    const { status, body } = await call(shop, "POST", path, terms({ rails }));
    expect(status).toBe(201);
    expect(body.accepts).toMatchObject([{ chain: "local", asset: "USDC" }]);
    expect(
      await db.pool.select({ rails: resource.rails }).from(resource).where(sql`id = ${body.id}`),
    ).toEqual([{ rails: [{ chain: "local", asset: "USDC" }] }]);
  });

  it("leaves a rail out whose least amount the price does not reach", async () => {
    const { body } = await call(shop, "POST", path, terms({ price: { amount: "0.000049", asset: "USDC" } }));
    expect(body.accepts).toMatchObject([{ chain: "base" }]);
  });

  it("drops what the index would not take, and says so", async () => {
    const { status, body } = await call(
      shop,
      "POST",
      path,
      terms({ serviceName: "ü", iconUrl: "javascript:alert(1)", extensions: { bazaar: { info: 1 } } }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ serviceName: null, iconUrl: null, extensions: {} });
    expect(body.findings.map(({ code }) => code)).toEqual([
      "service_name_invalid",
      "icon_url_invalid",
      "bazaar_invalid",
    ]);
  });

  it.each([
    ["an unknown key", { domain: { name: "USD Coin" } }, "/domain"],
    [
      "a transfer method",
      { rails: [{ chain: "base", asset: "USDC", transferMethod: "permit2" }] },
      "/rails/0/transferMethod",
    ],
    ["a price as a number", { price: { amount: 0.01, asset: "USD" } }, "/price/amount"],
    ["a signed price", { price: { amount: "-1", asset: "USD" } }, "/price/amount"],
    ["an exponent", { price: { amount: "1e3", asset: "USD" } }, "/price/amount"],
    [
      "a formatted price",
      { price: { amount: "1", asset: "USD", formatted: "1.00 USD" } },
      "/price/formatted",
    ],
    ["too short a time", { maxTimeoutSeconds: 29 }, "/maxTimeoutSeconds"],
    ["too long a time", { maxTimeoutSeconds: 601 }, "/maxTimeoutSeconds"],
    ["a strange flow", { paymentFlow: "escrow" }, "/paymentFlow"],
    ["a long description", { description: "x".repeat(501) }, "/description"],
    ["no media type", { mimeType: "json" }, "/mimeType"],
    ["no URL", { url: undefined }, "/url"],
    ["an unknown extension", { extensions: { evil: {} } }, "/extensions/evil"],
  ])("400 validation_failed for %s, pointing to it", async (_name, changes, pointer) => {
    const { status, body } = await call(shop, "POST", path, terms(changes));
    expect([status, body.code]).toEqual([400, "validation_failed"]);
    expect(body.errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  it.each([
    ["400 too_many_decimals", { price: { amount: "0.0000001", asset: "USD" } }],
    ["422 currency_unsupported", { price: { amount: "1", asset: "JPY" } }],
    ["422 amount_too_small", { price: { amount: "0", asset: "USD" } }],
    ["422 amount_too_large", { price: { amount: "1000000.01", asset: "USD" } }],
    ["422 rail_unsupported", { price: { amount: "1", asset: "USDG" } }],
    ["422 rail_unsupported", { rails: [{ chain: "moon", asset: "USDC" }] }],
    ["422 rail_unsupported", { rails: [{ chain: "base", asset: "EURC" }] }],
    [
      "422 amount_too_small",
      { price: { amount: "0.000049", asset: "USD" }, rails: [{ chain: "local", asset: "USDC" }] },
    ],
    ["422 token_domain_unreadable", { rails: [{ chain: "eip155:57073", asset: "USDC" }] }],
    ["422 url_not_allowed", { url: "http://api.example.com/" }],
    ["422 url_not_allowed", { url: "https://api.example.com/?a=1" }],
    ["422 url_not_allowed", { url: "https://10.0.0.1/" }],
  ])("%s for %j", async (expected, changes) => {
    const { status, body } = await call(shop, "POST", path, terms(changes));
    expect(`${status} ${body.code}`).toBe(expected);
    expect(await db.pool.select().from(resource).where(sql`merchant_id = ${shop.merchantId}`)).toEqual([]);
  });

  it("400 for JSON that is none or says a thing twice, 415 for another type, 413 above 256 KiB", async () => {
    const headers = { "content-type": "application/json" };
    expect((await call(shop, "POST", path, "{", headers)).body.code).toBe("invalid_json");
    expect(
      (await call(shop, "POST", path, '{"url":"https://a.example/","url":"https://b.example/"}', headers))
        .body.code,
    ).toBe("invalid_json");
    expect((await call(shop, "POST", path, "a=b", { "content-type": "text/plain" })).status).toBe(415);
    expect((await call(shop, "POST", path, JSON.stringify({ url: "x".repeat(262_145) }))).status).toBe(413);
  });
});

describe("Idempotency-Key on registration", () => {
  const keyed = (who: Caller, body: unknown, key: string) =>
    call(who, "POST", path, body, { "idempotency-key": key });

  it("the same key and body: the first answer again, byte for byte, and nothing done twice", async () => {
    const same = terms();
    const first = await keyed(shop, same, "k1");
    const again = await keyed(shop, same, "k1");
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(await db.pool.select().from(outbox).where(sql`subject = ${first.body.id}`)).toHaveLength(1);
  });

  it("the same request in other words is the same request", async () => {
    const { url, price } = terms();
    await keyed(shop, { url, price }, "k2");
    const again = await keyed(shop, { price, maxTimeoutSeconds: 300, url }, "k2");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  it("409 idempotency_key_reused for another body; another merchant's key is another key", async () => {
    const same = terms();
    await keyed(shop, same, "k3");
    const reused = await keyed(shop, { ...same, description: "other" }, "k3");
    expect([reused.status, reused.body.code]).toEqual([409, "idempotency_key_reused"]);
    expect((await keyed(await caller(), terms(), "k3")).status).toBe(201);
  });

  it("many at once: one runs, the others get its answer", async () => {
    const same = terms();
    const answers = await Promise.all(Array.from({ length: 8 }, () => keyed(shop, same, "k4")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
    expect(await db.pool.select().from(outbox).where(sql`subject = ${answers[0]?.body.id}`)).toHaveLength(1);
  });

  it("a refused request stores nothing: the key is free", async () => {
    const other = await caller();
    const taken = terms();
    await call(other, "POST", path, taken);
    expect((await keyed(shop, taken, "k5")).status).toBe(409);
    expect(
      await db.pool
        .select()
        .from(idempotencyKey)
        .where(sql`scope LIKE ${`${shop.merchantId}%`}`),
    ).toEqual([]);
    expect((await keyed(shop, terms(), "k5")).status).toBe(201);
  });

  it("400 idempotency_key_invalid for one that is empty, too long or not ASCII", async () => {
    for (const key of ["", "k".repeat(256), "schlüssel"])
      expect((await keyed(shop, terms(), key)).body.code).toBe("idempotency_key_invalid");
  });
});
