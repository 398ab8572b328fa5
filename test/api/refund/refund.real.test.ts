/** Refunds of payments that are final: what is booked, what leaves, what is left. */
import { describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { books, type Merchant, sharedWorld, until } from "../../support/house.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { expectAtRest, withoutSigning } from "../../support/scene.ts";
import {
  call,
  held,
  listed,
  paidMerchant,
  purse,
  read,
  refund,
  untilState,
  untilSucceeded,
  usdc,
} from "./paid.ts";

const world = sharedWorld();
const rows = (id: string) => ledgerOf(world.database, id);
/** What the payment says of its refunds, read and listed. */
const refunded = async (merchant: Merchant, id: string) => {
  const get = async (path: string) => (await call(merchant, path, { method: "GET" })).body;
  const [payment, [newest]] = [await get(`/v1/payments/${id}`), await get("/v1/payments?limit=1")];
  return [payment, newest].map(({ amountRefunded }) => amountRefunded.amount);
};

describe("POST /v1/payments/{id}/refunds", () => {
  it("201: part of it goes back to who paid; the rows of the worked posting, and nothing else changes", async () => {
    const { merchant, paid } = await paidMerchant(world, "49.99");
    const before = await books(world.dev, world.database);
    // when 20 of 49.99 are refunded
    const made = await refund(merchant, paid.id, {
      amount: usdc("20"),
      reason: "order-cancelled",
      metadata: { order: "1042" },
    });
    // then the answer is the refund, in the asset that was paid
    expect(made).toMatchObject({ status: 201 });
    expect(made.headers.get("Location")).toBe(`/v1/refunds/${made.body.id}`);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^re_[0-9A-Z]{26}$/),
      paymentIntentId: paid.id,
      amount: { amount: "20.000000", asset: "USDC", formatted: "20.00 USDC", display: "20.00 USDC" },
      state: "pending",
      reason: "order-cancelled",
      chain: "local",
      destination: checksum(paid.payer),
      providerReference: null,
      failureReason: null,
      metadata: { order: "1042" },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    // and it arrives, and succeeds once its block is final
    await until(async () => (await held(world, paid.payer)) === 20_000_000n, "the money arrives");
    await untilState(merchant, made.body.id, "processing");
    await untilSucceeded(world, merchant, made.body.id);
    expect(await refunded(merchant, paid.id)).toEqual(["20.000000", "20.000000"]);
    expect(await read(merchant, made.body.id)).toMatchObject({
      providerReference: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      failureReason: null,
    });
    expect(await rows(made.body.id)).toEqual([
      "single net merchant → merchant 19900000",
      "single fee fees → merchant 100000",
      "pending out merchant → treasury 20000000",
      "post out merchant → treasury 20000000",
    ]);
    expect(
      (await factsOf(world.database, made.body.id)).filter((type) => type.startsWith("refund.")),
    ).toEqual(["refund.created", "refund.processing", "refund.succeeded"]);
    expect(await purse(merchant)).toEqual(["29.840050", "0.000000", "0.000000"]);
    const after = await books(world.dev, world.database);
    expect(after).toEqual({
      ...before,
      treasury: before.treasury - 20_000_000n,
      chain: before.chain - 20_000_000n,
      available: { posted: before.available.posted - 19_900_000n, pending: 0n },
      fees: { posted: before.fees.posted - 100_000n, pending: 0n },
    });
  });

  it("201: everything of a merchant's only payment: our fee comes back with it, and nothing is left", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.07");
    const fees = (await books(world.dev, world.database)).fees.posted;
    const made = await call(merchant, `/v1/payments/${paid.id}/refunds`);
    expect(made).toMatchObject({ status: 201, body: { amount: { amount: "0.070000" } } });
    expect(made.body.reason).toBe("requested-by-customer");
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.070000"]);
    await untilSucceeded(world, merchant, made.body.id);
    expect((await books(world.dev, world.database)).fees.posted).toBe(fees - 350n);
    // then nothing is left of it
    expect(await refund(merchant, paid.id)).toMatchObject({
      status: 409,
      body: {
        code: "payment_not_refundable",
        detail: expect.stringContaining("all of it has been refunded"),
      },
    });
    const more = await refund(merchant, paid.id, { amount: usdc("0.000001") });
    expect(more).toMatchObject({ status: 422, body: { code: "refund_exceeds_refundable" } });
    expect(await listed(merchant, paid.id)).toHaveLength(1);
  });

  it("201: part, then the rest, by either id; amounts and fees add up", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.05");
    const before = await books(world.dev, world.database);
    const first = await refund(merchant, paid.id, { amount: usdc("0.03") });
    const tooMuch = await refund(merchant, paid.clearingId, { amount: usdc("0.020001") });
    expect(tooMuch).toMatchObject({
      status: 422,
      body: {
        code: "refund_exceeds_refundable",
        detail: expect.stringContaining("0.020000 USDC"),
        errors: [{ pointer: "/amount/amount" }],
      },
    });
    const second = await refund(merchant, paid.clearingId, { amount: usdc("0.013333") });
    const rest = await refund(merchant, paid.id);
    expect(rest.body).toMatchObject({ paymentIntentId: paid.id, amount: { amount: "0.006667" } });
    for (const { body } of [first, second, rest]) await untilSucceeded(world, merchant, body.id);
    expect(await held(world, paid.payer)).toBe(50_000n);
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.000000"]);
    const after = await books(world.dev, world.database);
    expect(before.fees.posted - after.fees.posted).toBe(250n);
    expect(before.available.posted - after.available.posted).toBe(49_750n);
    expect((await listed(merchant, paid.clearingId)).map(({ id }: { id: string }) => id)).toEqual(
      [rest, second, first].map(({ body }) => body.id),
    );
  });

  it("with refundFees off the merchant gives all of it", async () => {
    const { merchant, paid } = await paidMerchant(world, "1.00");
    const off = await call(merchant, "/v1/merchant", { method: "PATCH", body: { refundFees: false } });
    expect(off).toMatchObject({ status: 200, body: { refundFees: false } });
    // the fee is gone, so all of it is more than there is
    const all = await refund(merchant, paid.id);
    expect(all).toMatchObject({ status: 422, body: { code: "insufficient_balance" } });
    expect(await listed(merchant, paid.id)).toEqual([]);
    const made = await refund(merchant, paid.id, { amount: usdc("0.5") });
    expect((await rows(made.body.id))[0]).toBe("single net merchant → merchant 500000");
    expect((await rows(made.body.id)).join()).not.toContain("fee");
    expect((await purse(merchant))[0]).toBe("0.495000");
    // what is refunded with fees again later gives back its own part of the fee only
    await call(merchant, "/v1/merchant", { method: "PATCH", body: { refundFees: true } });
    const another = await refund(merchant, paid.id, { amount: usdc("0.4") });
    expect((await rows(another.body.id)).slice(0, 2)).toEqual([
      "single net merchant → merchant 398000",
      "single fee fees → merchant 2000",
    ]);
    expect((await purse(merchant))[0]).toBe("0.097000");
  });

  it("422 insufficient_balance: what was paid out cannot be refunded, and nothing changes", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.03");
    await withoutSigning(world, async () => {
      await payout(merchant, "0.02");
      const before = await purse(merchant);
      expect(await refund(merchant, paid.id)).toMatchObject({
        status: 422,
        body: { code: "insufficient_balance", detail: expect.stringContaining("0.029850 USDC") },
      });
      expect(await purse(merchant)).toEqual(before);
      expect(await listed(merchant, paid.id)).toEqual([]);
    });
    await until(async () => (await purse(merchant))[2] === "0.000000", "the payout has left");
    await expectAtRest(world);
  });

  /** Paid out to an address of the merchant's own. */
  async function payout(merchant: Merchant, amount: string) {
    const destination = checksum(paidOutTo);
    await call(merchant, "/v1/payout-addresses", { body: { chain: "local", address: destination } });
    const body = { amount: usdc(amount), chain: "local", destination };
    expect(await call(merchant, "/v1/payouts", { body })).toMatchObject({ status: 201 });
  }
});

describe("POST /v1/refunds/{id}/cancel", () => {
  it("200 before the treasury has signed: the money is free again, and counts as refundable", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.02");
    const before = await books(world.dev, world.database);
    expect(await refunded(merchant, paid.id)).toEqual(["0.000000", "0.000000"]);
    const id = await withoutSigning(world, async () => {
      const { body } = await refund(merchant, paid.id);
      expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.020000"]);
      expect(await refunded(merchant, paid.id)).toEqual(["0.020000", "0.020000"]);
      const cancelled = await call(merchant, `/v1/refunds/${body.id}/cancel`, { key: null });
      expect(cancelled).toMatchObject({ status: 200, body: { id: body.id, state: "cancelled" } });
      expect(await call(merchant, `/v1/refunds/${body.id}/cancel`)).toMatchObject({ body: cancelled.body });
      return body.id;
    });
    expect(await refunded(merchant, paid.id)).toEqual(["0.000000", "0.000000"]);
    expect(await rows(id)).toHaveLength(4);
    await expectAtRest(world);
    expect(await books(world.dev, world.database)).toEqual(before);
    expect(await factsOf(world.database, id)).toEqual(["refund.created", "refund.cancelled"]);
    expect(await refund(merchant, paid.id)).toMatchObject({
      status: 201,
      body: { amount: { amount: "0.020000" } },
    });
  });

  it("409 refund_not_cancellable once it is signed, and when it is over", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.02");
    const { body } = await refund(merchant, paid.id);
    await untilState(merchant, body.id, "processing");
    const refused = { status: 409, body: { code: "refund_not_cancellable" } };
    expect(await call(merchant, `/v1/refunds/${body.id}/cancel`)).toMatchObject(refused);
    await untilSucceeded(world, merchant, body.id);
    expect(await call(merchant, `/v1/refunds/${body.id}/cancel`)).toMatchObject(refused);
    expect(await held(world, paid.payer)).toBe(20_000n);
  });
});

describe("at the same time", () => {
  it("two refunds of the last money: one is made, the other told what is left", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.05");
    const both = await Promise.all(
      ["0.03", "0.04"].map((amount) => refund(merchant, paid.id, { amount: usdc(amount) })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(both.find(({ status }) => status === 422)?.body.code).toBe("refund_exceeds_refundable");
    const whole = await Promise.all([1, 2, 3].map(() => refund(merchant, paid.id)));
    expect(whole.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    // What no lane has taken yet does not move, so the rest alone would not wait for it.
    for (const { status, body } of [...both, ...whole])
      if (status === 201) await untilSucceeded(world, merchant, body.id);
    await expectAtRest(world);
    expect(await held(world, paid.payer)).toBe(50_000n);
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.000000"]);
  });

  it("a refund and a payout of the same money: one is made", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.05");
    const destination = checksum(paidOutTo);
    await call(merchant, "/v1/payout-addresses", { body: { chain: "local", address: destination } });
    const [back, out] = await Promise.all([
      refund(merchant, paid.id),
      call(merchant, "/v1/payouts", { body: { amount: usdc("0.04"), chain: "local", destination } }),
    ]);
    expect([back?.status, out?.status].sort()).toEqual([201, 422]);
    const lost = [back, out].find((each) => each?.status === 422);
    expect(lost?.body.code).toBe("insufficient_balance");
  });

  it("the same request many times: one refund", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.05");
    const all = await Promise.all(
      Array.from({ length: 8 }, () => refund(merchant, paid.id, { amount: usdc("0.01") }, "once")),
    );
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(await listed(merchant, paid.id)).toHaveLength(1);
  });
});

const paidOutTo = "0x00000000000000000000000000000000000000cc" as Parameters<typeof checksum>[0];
