import { beforeAll, describe, expect, it } from "vitest";
import { linesOf } from "../../../api/cart/verbs.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, newCaller } from "../caller.ts";
import { baseUrl, newId, world } from "../world.ts";

let app: ReturnType<typeof world>["app"];
let owner: Caller;
let page: Caller;
let tea: { readonly id: string };
let cup: { readonly id: string };
let count = 0;
const origin = "https://shop.example";
const database = sharedDatabase();
beforeAll(async () => {
  ({ app } = world({ db: database.db }));
  owner = await newCaller(database.db);
  page = await newCaller(database.db, {
    merchantId: owner.merchantId,
    kind: "pk",
    allowedOrigins: [origin],
  });
  tea = await product("Tea", "2.50");
  cup = await product("Cup", "10");
});

async function product(name: string, amount: string) {
  const prices = [{ amount, asset: "USD" }];
  return (await call(owner, "POST", "/v1/catalog/products", { sku: `s-${++count}`, name, prices })).body;
}
function call(
  who: Caller,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const key = { "idempotency-key": `k-${++count}` };
  return caller(app, who)(method, path, { body, headers: { ...key, ...headers } });
}
const basket = () => ({
  currency: "USD",
  lines: [
    { productId: tea.id, quantity: 3 },
    { productId: cup.id, quantity: 1 },
  ],
});
/** As the shop's page does. */
const buy = (body: unknown, headers: Record<string, string> = {}) =>
  call(page, "POST", "/v1/carts/checkout", body, { origin, ...headers });
const codeOf = ({ status, body }: Answer) => [status, body.code, body.errors?.[0]?.pointer];

describe("POST /v1/carts/price", () => {
  it("tells a page each line and the total, and needs no key of the request", async () => {
    const answer = await caller(app, page)("POST", "/v1/carts/price", {
      body: basket(),
      headers: { origin },
    });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    expect(answer.body).toMatchObject({
      lines: [
        {
          productId: tea.id,
          name: "Tea",
          unitPrice: { amount: "2.50" },
          quantity: 3,
          total: { amount: "7.50" },
        },
        { productId: cup.id, quantity: 1, total: { amount: "10.00", asset: "USD" } },
      ],
      total: { amount: "17.50", asset: "USD", display: "$17.50" },
    });
  });
});

describe("POST /v1/carts/checkout", () => {
  it("makes an intent of the price that stands here, and keeps what was in the cart", async () => {
    const forged = { invoiceId: "inv_1", subscriptionId: "sub_1", cycleIndex: "0", paymentLinkId: "plink_1" };
    const metadata = { a: "1", ...forged, resourceId: "x402r_1" };
    const answer = await buy({ ...basket(), merchantReference: "1001", metadata });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([201, origin]);
    const { paymentIntent, url } = answer.body;
    expect(paymentIntent).toMatchObject({
      source: "cart",
      status: "created",
      amount: { amount: "17.50", asset: "USD" },
      merchant: { id: owner.merchantId },
      merchantReference: "1001",
      metadata: { a: "1" },
    });
    expect(Object.keys(paymentIntent.metadata)).toEqual(["a"]);
    expect(url).toBe(`${baseUrl}/checkout/${paymentIntent.id}`);
    expect((await call(owner, "GET", `/v1/payment-intents/${paymentIntent.id}`)).body).toEqual(paymentIntent);
    const lines = await linesOf(database.db.pool, { merchantId: owner.merchantId, id: paymentIntent.id });
    expect(lines).toEqual([
      { productId: tea.id, name: "Tea", quantity: 3, unitPrice: { amount: 250n, asset: "USD" } },
      { productId: cup.id, name: "Cup", quantity: 1, unitPrice: { amount: 1_000n, asset: "USD" } },
    ]);
    expect(await linesOf(database.db.pool, { merchantId: owner.merchantId, id: newId("pi") })).toBeNull();
  });

  it("takes no price from the caller", async () => {
    const [line] = basket().lines;
    const told = await buy({
      currency: "USD",
      lines: [{ ...line, unitPrice: { amount: "0.01", asset: "USD" } }],
    });
    expect(codeOf(told)).toEqual([400, "validation_failed", "/lines/0/unitPrice"]);
  });

  it("a price that changes later leaves the intent as it is", async () => {
    const thing = await product("Thing", "1");
    const lines = [{ productId: thing.id, quantity: 1 }];
    const key = { "idempotency-key": "buy-thing" };
    const first = await buy({ currency: "USD", lines }, key);
    const prices = [{ amount: "2", asset: "USD" }];
    await call(owner, "PATCH", `/v1/catalog/products/${thing.id}`, { prices });
    const again = await buy({ currency: "USD", lines }, key);
    expect([again.body, again.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
    expect((await buy({ currency: "USD", lines })).body.paymentIntent.amount.amount).toBe("2.00");
    expect(codeOf(await buy(basket(), key))[1]).toBe("idempotency_key_reused");
  });

  it("20 at once with one key make one intent", async () => {
    const key = { "idempotency-key": "at-once" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => buy(basket(), key)));
    expect(new Set(answers.map(({ body }) => body.paymentIntent.id)).size).toBe(1);
    const kept = await database.query("SELECT 1 FROM cart WHERE intent_id = $1", [
      answers[0]?.body.paymentIntent.id,
    ]);
    expect(kept).toHaveLength(1);
  });

  it("the key holds after its record was pruned: the same cart is the same intent, its lines kept once", async () => {
    const key = { "idempotency-key": "buy-late" };
    const first = await buy(basket(), key);
    await database.query("DELETE FROM idempotency_key WHERE key = 'buy-late'");
    const again = await buy(basket(), key);
    expect([again.status, again.body, again.headers.get("idempotent-replayed")]).toEqual([
      201,
      first.body,
      "true",
    ]);
    const { id } = first.body.paymentIntent;
    expect(await database.query("SELECT FROM cart WHERE intent_id = $1", [id])).toHaveLength(1);
  });

  it("works with a secret key without permissions, and not from another page", async () => {
    const { merchantId } = owner;
    const bare = await newCaller(database.db, { merchantId, permissions: ["events:read"] });
    expect((await call(bare, "POST", "/v1/carts/checkout", basket())).status).toBe(201);
    const told = await buy(basket(), { origin: "https://other.example" });
    expect([told.status, told.body.code]).toEqual([403, "origin_not_allowed"]);
    const keyless = await app.request("/v1/carts/checkout", { method: "POST", body: "{}" });
    expect(keyless.status).toBe(401);
  });

  it.each([
    [() => ({ ...basket(), currency: "EUR" }), 422, "price_missing", "/lines/0/productId"],
    [() => ({ ...basket(), currency: "XXX" }), 422, "currency_unsupported", "/currency"],
    [
      () => ({ currency: "USD", lines: [{ productId: newId("prod"), quantity: 1 }] }),
      422,
      "product_not_found",
      "/lines/0/productId",
    ],
    [() => ({ currency: "USD", lines: [] }), 400, "validation_failed", "/lines"],
    [
      () => ({ currency: "USD", lines: [{ productId: tea.id, quantity: 10_000 }] }),
      400,
      "validation_failed",
      "/lines/0/quantity",
    ],
    [
      () => ({ currency: "USD", lines: [{ productId: tea.id, quantity: 1.5 }] }),
      400,
      "validation_failed",
      "/lines/0/quantity",
    ],
    [() => ({ ...basket(), amount: "1" }), 400, "validation_failed", "/amount"],
    [() => ({ ...basket(), payment: { chain: "mars" } }), 422, "rail_unsupported", "/payment/chain"],
    [() => ({ ...basket(), merchant: { id: "mer_x" } }), 403, "merchant_mismatch", "/merchant/id"],
    [() => ({ ...basket(), returnUrl: "https://x.example" }), 422, "return_url_not_allowed", "/returnUrl"],
  ])("refuses bad input %#", async (body, ...expected) => {
    expect(codeOf(await buy(body()))).toEqual(expected);
  });

  it("points at the lines when their sum is too large or nothing", async () => {
    const [dear, free] = [await product("Dear", "900"), await product("Free", "0")];
    const many = [{ productId: dear.id, quantity: 9_999 }];
    expect(codeOf(await buy({ currency: "USD", lines: many }))).toEqual([422, "amount_too_large", "/lines"]);
    const none = [{ productId: free.id, quantity: 1 }];
    expect(codeOf(await buy({ currency: "USD", lines: none }))).toEqual([422, "amount_too_small", "/lines"]);
  });
});
