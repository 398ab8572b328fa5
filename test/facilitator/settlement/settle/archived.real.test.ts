/** Payments of a resource that its merchant deleted, or registered anew, sent once more to the base that finds it by URL. */
import { describe, expect, it } from "vitest";
import { whileBlocksAreHeld } from "../../../conformance/held-blocks.ts";
import { newMerchant, post, sharedMerchant, sharedWorld, until } from "../../../support/house.ts";
import { expectAtRest, newPayment, type Payment } from "../../../support/scene.ts";

const world = sharedWorld({ settings: { maxWaitMs: 1_500 } });
const merchant = sharedMerchant(world);

const settle = ({ body }: Payment) => post(world.baseUrl, "/x402/settle", body);
const verify = ({ body }: Payment) => post(world.baseUrl, "/x402/verify", body);
async function remove(id: string): Promise<void> {
  const { status } = await merchant.call(`/v1/x402/resources/${id}`, { method: "DELETE" });
  expect(status).toBe(204);
}

describe("a resource that is deleted", () => {
  it("leaves a payment under way as it is: valid, pending, then told to one caller, then a duplicate", async () => {
    const payment = await newPayment(world, merchant);
    const pending = await whileBlocksAreHeld(world.dev, async () => {
      const first = await settle(payment);
      await remove(payment.resource.id);
      expect(await verify(payment)).toMatchObject({ status: 200, body: { isValid: true } });
      expect(await settle(payment)).toMatchObject({
        status: 200,
        body: { errorReason: "settlement_pending", extra: { paymentId: first.body.extra.paymentId } },
      });
      return first;
    });
    expect(pending.body.errorReason).toBe("settlement_pending");
    await until(async () => (await settle(payment)).body.success === true, "it is told of");
    const { status, body } = await settle(payment);
    expect([status, body.errorReason]).toEqual([409, "duplicate_settlement"]);
    expect(body.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await verify(payment)).body).toMatchObject({ invalidReason: "duplicate_settlement" });
    await expectAtRest(world);
  });

  it("takes no new payment, and one of something else does not bring it back", async () => {
    const { resource, body } = await newPayment(world, merchant);
    const other = await newPayment(world, merchant);
    expect((await settle(other)).body.success).toBe(true);
    await remove(resource.id);
    expect((await post(world.baseUrl, "/x402/settle", body)).status).toBe(404);
    const there = { ...other.body.paymentPayload, resource: { url: resource.url } };
    const asked = { ...other.body, paymentPayload: there };
    expect((await post(world.baseUrl, "/x402/settle", asked)).status).toBe(404);
  });
});

describe("a resource that is registered anew", () => {
  it("knows the payments of the one before, at another price, too", async () => {
    const payment = await newPayment(world, merchant);
    const { body: first } = await settle(payment);
    expect(first.success).toBe(true);
    await remove(payment.resource.id);
    const { url } = payment.resource;
    const anew = await merchant.register({ url, price: { amount: "0.02", asset: "USD" } });
    expect(anew.id).not.toBe(payment.resource.id);
    expect(await settle(payment)).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: first.transaction },
    });
    expect((await verify(payment)).body).toMatchObject({ invalidReason: "duplicate_settlement" });
    // by its id it is another resource
    const path = `/x402/resources/${anew.id}/settle`;
    expect((await post(world.baseUrl, path, payment.body)).body).toMatchObject({
      errorReason: "authorization_bound_elsewhere",
      transaction: "",
    });
  });

  it("by another merchant never counts as paid by what the first one got", async () => {
    const payment = await newPayment(world, merchant);
    await whileBlocksAreHeld(world.dev, async () => {
      expect((await settle(payment)).body.errorReason).toBe("settlement_pending");
    });
    await remove(payment.resource.id);
    await (await newMerchant(world)).register({ url: payment.resource.url });
    await expectAtRest(world);
    expect(await settle(payment)).toMatchObject({
      status: 409,
      body: { success: false, errorReason: "authorization_bound_elsewhere", transaction: "" },
    });
    expect((await verify(payment)).body).toMatchObject({ invalidReason: "authorization_bound_elsewhere" });
  });
});
