/** Payments by authorization as their features see them. */
import { describe, expect, it } from "vitest";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { newPayer, post, rowOf, sharedMerchant, sharedWorld, until } from "../../../support/house.ts";
import { factsOf } from "../../../support/records.ts";
import { expectAtRest, newPayment } from "../../../support/scene.ts";
import { payableOf } from "../../payable/shapes.ts";

const newId = idMaker({ clock: systemClock, random: systemRandom });
const world = sharedWorld({ settings: { maxWaitMs: 2_000 } });
const merchant = sharedMerchant(world);

const payments = (by: Parameters<typeof world.house.facilitator.payments>[0]) =>
  world.house.facilitator.payments(by);

describe("payments", () => {
  it("shows by its id what was signed, where it stands on the chain, and what it pays", async () => {
    const paid = await newPayment(world, merchant);
    const { body } = await paid.settle();
    const id = body.extra.paymentId;
    const [view, ...more] = await payments({ ids: [id, "stl_unknown"] });
    expect(more).toEqual([]);
    expect(view).toMatchObject({
      ...{ id, payableId: paid.resource.id, merchantId: merchant.id, state: "included", creditEpoch: 0 },
      ...{ chain: "local", asset: "USDC", amount: 10_000n, fee: 50n, payer: paid.payer.address },
      ...{ payTo: rowOf(world.dev).treasury, transaction: body.transaction, required: 1 },
      ...{ reason: null, message: null, createdAt: expect.any(Date), includedAt: expect.any(Date) },
      ...{ blockNumber: expect.any(Number), logIndex: expect.any(Number) },
    });
    expect(view?.confirmations).toBeGreaterThanOrEqual(1);
    await expectAtRest(world);
    expect(await payments({ ids: [id] })).toMatchObject([{ state: "final" }]);
    // facts name what was paid
    const facts = await world.database.query<{ type: string; payable: string }>(
      "SELECT type, payload->>'payableId' AS payable FROM outbox WHERE subject = $1 ORDER BY id",
      [id],
    );
    expect(facts).toEqual([{ type: "settlement.credited", payable: paid.resource.id }]);
  });

  it("shows by what it pays a payment of something that can be paid once", async () => {
    const id = newId("pi");
    const url = `${world.baseUrl}/x402/payables/${id}`;
    const payable = payableOf({ id, kind: "payment-intent", merchantId: merchant.id, url, once: true });
    await world.database.db.tx((tx) => world.house.facilitator.project(tx, payable));
    expect(await payments({ payableIds: [id] })).toEqual([]);
    const { resource } = await newPayment(world, merchant);
    const paid = await newPayment(world, merchant, { resource: { ...resource, id, url } });
    const other = await newPayment(world, merchant, { resource: { ...resource, id, url } });
    const settle = (payment: typeof paid) => post(world.baseUrl, "/x402/settle", payment.body);
    const { body } = await settle(paid);
    expect(body).toMatchObject({ success: true });
    expect((await settle(other)).body).toMatchObject({ success: false });
    // and who waits for it is told that somebody pays it
    const paymentId = body.extra.paymentId;
    const [first] = await factsOf(world.database, paymentId);
    expect(first).toBe("settlement.claimed");
    const found = await payments({ payableIds: [id, resource.id] });
    expect(found).toMatchObject([
      { id: body.extra.paymentId, payableId: id, payer: paid.payer.address, transaction: body.transaction },
    ]);
  });

  it("shows nothing of what leaves, and asks nothing for nobody", async () => {
    await expectAtRest(world);
    const refund = {
      ...{ id: newId("re"), kind: "refund" as const, merchantId: merchant.id, amount: 5n },
      ...{ chainId: rowOf(world.dev).chainId, token: world.dev.usdc },
      recipient: (await newPayer(world.dev, 0n)).address,
    };
    await world.database.db.tx((tx) => world.house.facilitator.outgoing.queue(tx, refund));
    const claimed = () =>
      world.database.query<{ id: string }>("SELECT id FROM claim WHERE payable_id = $1", [refund.id]);
    await until(async () => (await claimed()).length === 1, "it is signed");
    expect(await payments({ ids: (await claimed()).map(({ id }) => id) })).toEqual([]);
    expect(await payments({ payableIds: [refund.id] })).toEqual([]);
    expect(await payments({ ids: [] })).toEqual([]);
    await expectAtRest(world);
  });
});
