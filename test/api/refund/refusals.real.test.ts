/** What a refund is refused for, field by field, and what a repeated key answers. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { checksum } from "#kernel/bytes";
import { type Merchant, newMerchant, rowOf, sharedWorld } from "../../support/house.ts";
import { type Called, call, listed, type Paid, paidMerchant, purse, read, refund, usdc } from "./paid.ts";

const world = sharedWorld();
let merchant: Merchant;
let paid: Paid;
let before: readonly string[];
beforeAll(async () => {
  ({ merchant, paid } = await paidMerchant(world, "0.10"));
  before = await purse(merchant);
});

const untouched = async () => {
  expect(await purse(merchant)).toEqual(before);
  expect(await listed(merchant, paid.id)).toEqual([]);
};
const pointers = ({ body }: Called) => body.errors?.map(({ pointer }: { pointer: string }) => pointer);

describe("POST /v1/payments/{id}/refunds", () => {
  const wrong: readonly (readonly [why: string, body: unknown, pointer: string])[] = [
    ["an amount below zero", { amount: usdc("-1") }, "/amount/amount"],
    ["an amount of nothing", { amount: usdc("0.00") }, "/amount/amount"],
    ["an amount that is a number", { amount: { amount: 1, asset: "USDC" } }, "/amount/amount"],
    ["an amount without an asset", { amount: { amount: "1" } }, "/amount/asset"],
    ["an amount that is no money", { amount: "1" }, "/amount"],
    ["a reason nobody knows", { reason: "because" }, "/reason"],
    ["a destination that is no address", { destination: "0x12" }, "/destination"],
    [
      "a destination with a wrong checksum",
      { destination: "0x7e5F4552091A69125d5DfCb7b8C2659029395Bdf" },
      "/destination",
    ],
    ["nobody's address", { destination: `0x${"00".repeat(20)}` }, "/destination"],
    ["metadata that are no texts", { metadata: { order: 7 } }, "/metadata/order"],
    ["metadata of ours", { metadata: { "system.x": "1" } }, "/metadata/system.x"],
    ["a key that is not known", { amuont: usdc("1") }, "/amuont"],
  ];
  it.each(wrong)("400 validation_failed for %s, and names the field", async (_, body, pointer) => {
    const refused = await refund(merchant, paid.id, body);
    expect(refused).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(pointers(refused)).toEqual([pointer]);
    await untouched();
  });

  it("400 for the token as destination, 422 recipient_is_ours for our treasury", async () => {
    const ask = (destination: Parameters<typeof checksum>[0]) =>
      refund(merchant, paid.id, { destination: checksum(destination) });
    const [lost, ours] = [await ask(world.dev.usdc), await ask(rowOf(world.dev).treasury)];
    expect(lost).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(ours).toMatchObject({ status: 422, body: { code: "recipient_is_ours" } });
    expect([pointers(lost), pointers(ours)]).toEqual([["/destination"], ["/destination"]]);
    await untouched();
  });

  it("400 too_many_decimals for a fraction finer than the asset", async () => {
    const refused = await refund(merchant, paid.id, { amount: usdc("0.0000001") });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "too_many_decimals", detail: expect.stringContaining("USDC") },
    });
    expect(pointers(refused)).toEqual(["/amount/amount"]);
    await untouched();
  });

  it.each(["USD", "EURC", "XYZ"])("422 asset_mismatch for an amount in %s", async (asset) => {
    const refused = await refund(merchant, paid.id, { amount: { amount: "0.01", asset } });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "asset_mismatch", detail: "A refund of this payment is in USDC, as it was paid." },
    });
    expect(pointers(refused)).toEqual(["/amount/asset"]);
    await untouched();
  });

  it("422 refund_exceeds_refundable, with what can be asked for", async () => {
    const refused = await refund(merchant, paid.id, { amount: usdc("0.100001") });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "refund_exceeds_refundable", detail: expect.stringContaining("0.100000 USDC") },
    });
    expect(pointers(refused)).toEqual(["/amount/amount"]);
    await untouched();
  });

  it("422 amount_too_small for less than its chain takes, unless it is all that is left", async () => {
    const { facilitator } = world.house;
    const other = await paidMerchant(world, "0.01");
    const rails = facilitator.rails().map((rail) => ({ ...rail, minimum: 100_001n }));
    vi.spyOn(facilitator, "rails").mockReturnValue(rails);
    const refused = await refund(merchant, paid.id, { amount: usdc("0.099999") });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "amount_too_small", detail: "The amount must be at least 0.100000 USDC." },
    });
    expect(pointers(refused)).toEqual(["/amount/amount"]);
    vi.spyOn(facilitator, "rails").mockReturnValue(rails.map((rail) => ({ ...rail, minimum: 50_000n })));
    expect(await refund(merchant, paid.id, { amount: usdc("0.049999") })).toMatchObject({
      status: 422,
      body: { code: "amount_too_small", detail: "The amount must be at least 0.050000 USDC." },
    });
    await untouched();
    expect((await refund(other.merchant, other.paid.id, { amount: usdc("0.01") })).status).toBe(201);
  });

  it("400 without a key, or with one that is none", async () => {
    const path = `/v1/payments/${paid.id}/refunds`;
    const code = async (key: string | null) => (await call(merchant, path, { body: {}, key })).body.code;
    expect(await code(null)).toBe("idempotency_key_required");
    expect(await code("x".repeat(256))).toBe("idempotency_key_invalid");
    await untouched();
  });

  it("409 payment_not_refundable for what nobody has paid", async () => {
    const { body: intent } = await call(merchant, "/v1/payment-intents", {
      body: { amount: { amount: "5.00", asset: "USD" } },
    });
    expect(await refund(merchant, intent.id)).toMatchObject({
      status: 409,
      body: { code: "payment_not_refundable", detail: expect.stringContaining("nobody has paid it") },
    });
    // nor for what waits for its money: the books hold none of it
    expect(await call(merchant, `/v1/payment-intents/${intent.id}/confirm`)).toMatchObject({ status: 200 });
    expect(await refund(merchant, intent.id)).toMatchObject({
      status: 409,
      body: { code: "payment_not_refundable", detail: expect.stringContaining("awaiting-funds") },
    });
    expect(await listed(merchant, intent.id)).toEqual([]);
  });

  it("404 for a payment that is not there, and for another merchant's, by either id", async () => {
    const stranger = await newMerchant(world);
    const hidden = { status: 404, body: { code: "not_found" } };
    for (const id of [paid.id, paid.clearingId]) {
      expect(await refund(stranger, id)).toMatchObject(hidden);
      expect(await call(stranger, `/v1/payments/${id}/refunds`, { method: "GET" })).toMatchObject(hidden);
    }
    for (const id of ["pi_01K2C0Z0000000000000009999", "clr_01K2C0Z0000000000000009999", "re_x", "%00"])
      expect(await refund(merchant, id)).toMatchObject({ status: 404 });
    await untouched();
  });
});

describe("a key that was used before", () => {
  let first: Called;
  beforeAll(async () => {
    first = await refund(merchant, paid.id, { amount: usdc("0.01") }, "used");
    expect(first.status).toBe(201);
  });
  const expectFirst = (again: Called) => {
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.headers.get("Location")).toBe(first.headers.get("Location"));
  };

  it("answers with the refund it made, whatever the body, by either id of the payment", async () => {
    expectFirst(await refund(merchant, paid.id, { amount: usdc("0.01") }, "used"));
    expectFirst(await refund(merchant, paid.id, {}, "used"));
    expectFirst(await refund(merchant, paid.id, { amount: usdc("90000") }, "used"));
    expectFirst(await refund(merchant, paid.clearingId, { reason: "duplicate" }, "used"));
    expect(await listed(merchant, paid.id)).toHaveLength(1);
  });

  it("409 idempotency_key_reused on another payment", async () => {
    const other = await paidMerchant(world, "0.02", merchant);
    expect(await refund(merchant, other.paid.id, { amount: usdc("0.01") }, "used")).toMatchObject({
      status: 409,
      body: { code: "idempotency_key_reused" },
    });
    expect(await listed(merchant, other.paid.id)).toEqual([]);
    // and another merchant's keys are its own
    const stranger = await paidMerchant(world, "0.02");
    expect(await refund(stranger.merchant, stranger.paid.id, {}, "used")).toMatchObject({ status: 201 });
  });

  it("holds when its record is gone: the refund as it is now, and nothing new", async () => {
    await world.database.query("DELETE FROM idempotency_key");
    const again = await refund(merchant, paid.clearingId, { amount: usdc("0.05") }, "used");
    expect(again.status).toBe(201);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toMatchObject({ id: first.body.id, amount: first.body.amount });
    await world.database.query("DELETE FROM idempotency_key");
    const other = await paidMerchant(world, "0.02", merchant);
    expect(await refund(merchant, other.paid.id, {}, "used")).toMatchObject({
      status: 409,
      body: { code: "idempotency_key_reused" },
    });
    expect(await listed(merchant, paid.id)).toHaveLength(1);
  });
});

describe("GET /v1/refunds/{id}, POST …/destination, …/cancel", () => {
  it("404 for another merchant and for what is not there; nothing changes", async () => {
    const stranger = await newMerchant(world);
    const [made] = await listed(merchant, paid.id);
    const asItWas = await read(merchant, made.id);
    const hidden = { status: 404, body: { code: "not_found" } };
    for (const [who, id] of [
      [stranger, made.id],
      [merchant, "re_01K2C0Z0000000000000009999"],
    ] as const) {
      expect(await call(who, `/v1/refunds/${id}`, { method: "GET" })).toMatchObject(hidden);
      expect(await call(who, `/v1/refunds/${id}/cancel`)).toMatchObject(hidden);
      const body = { address: checksum(world.dev.lane) };
      expect(await call(who, `/v1/refunds/${id}/destination`, { body })).toMatchObject(hidden);
    }
    expect(await read(merchant, made.id)).toEqual(asItWas);
  });

  it("409 refund_has_destination for a refund that knows whom to pay; the same address changes nothing", async () => {
    const [made] = await listed(merchant, paid.id);
    const give = (address: string) =>
      call(merchant, `/v1/refunds/${made.id}/destination`, { body: { address } });
    expect(await give(checksum(world.dev.lane))).toMatchObject({
      status: 409,
      body: { code: "refund_has_destination" },
    });
    expect(await give(checksum(paid.payer))).toMatchObject({
      status: 200,
      body: { destination: made.destination },
    });
    const wrong = await give("0x12");
    expect(wrong).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(pointers(wrong)).toEqual(["/address"]);
  });

  it("pages the refunds of a payment, newest first", async () => {
    for (const _ of [1, 2]) await refund(merchant, paid.id, { amount: usdc("0.01") });
    const all = await listed(merchant, paid.id);
    expect(all).toHaveLength(3);
    const path = `/v1/payments/${paid.id}/refunds?limit=2`;
    const page = await call(merchant, path, { method: "GET" });
    const rest = await call(merchant, `${path}&cursor=${page.headers.get("Next-Cursor")}`, { method: "GET" });
    expect([...page.body, ...rest.body].map(({ id }) => id)).toEqual(all.map(({ id }: Paid) => id));
    expect(rest.headers.get("Next-Cursor")).toBeNull();
  });
});
