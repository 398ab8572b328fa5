/** Races: an authorization pays for one thing, and what can be paid once is paid once. */
import { describe, expect, it } from "vitest";
import { newPayer, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { stateOf } from "../support/records.ts";
import { cancel, expectAtRest, newPayment } from "../support/scene.ts";

const world = sharedWorld();
const merchant = sharedMerchant(world);

async function onceResource() {
  const resource = await merchant.register();
  await world.database.query("UPDATE payable SET once = true WHERE id = $1", [resource.id]);
  return resource;
}

async function holderOf(resourceId: string): Promise<string | null> {
  const [row] = await world.database.query<{ nonce: string | null }>(
    `SELECT '0x' || encode(claim.nonce, 'hex') AS nonce FROM payable
     LEFT JOIN claim ON claim.claim_key = payable.held_by WHERE payable.id = $1`,
    [resourceId],
  );
  return row?.nonce ?? null;
}

describe("one authorization for two resources", () => {
  it("at once: one is paid, the other learns nothing of it", async () => {
    const [a, b] = [await merchant.register(), await merchant.register()];
    const payer = await newPayer(world.dev, 20_000n);
    const forA = await newPayment(world, merchant, { resource: a, payer });
    const forB = { ...forA.body, paymentPayload: { ...forA.body.paymentPayload, resource: { url: b.url } } };
    const answers = await Promise.all([
      forA.settle(),
      fetch(`${world.baseUrl}/x402/resources/${b.id}/settle`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(forB),
      }).then(async (response) => ({ status: response.status, body: await response.json() })),
    ]);
    const [lost] = answers.filter(({ status }) => status === 409);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(lost?.body).toEqual({
      success: false,
      errorReason: "authorization_bound_elsewhere",
      errorMessage: expect.any(String),
      transaction: "",
      network: "eip155:31337",
      payer: expect.any(String),
    });
    await expectAtRest(world);
  });
});

describe("what can be paid once", () => {
  it("by two payers at once: one pays, the other keeps the money", async () => {
    const resource = await onceResource();
    const both = [
      await newPayment(world, merchant, { resource }),
      await newPayment(world, merchant, { resource }),
    ];
    const answers = await Promise.all(both.map((paid) => paid.settle()));
    expect(answers.map(({ body }) => body.success).sort()).toEqual([false, true]);
    const [refused] = answers.filter(({ body }) => !body.success);
    expect(refused).toMatchObject({ status: 200, body: { errorReason: "invalid_payment_requirements" } });
    const left = both.map(({ payer }) =>
      world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest"),
    );
    expect(await Promise.all(left)).toEqual(answers.map(({ body }) => (body.success ? 0n : 10_000n)));
    await expectAtRest(world);
  });

  it("by one payer who sends his payment many times at once: it is one, and none of them is another's", async () => {
    const paid = await newPayment(world, merchant, { resource: await onceResource() });
    const answers = await Promise.all(Array.from({ length: 6 }, () => paid.settle()));
    const told = answers.map(({ body }) => (body.success ? "paid" : body.errorReason));
    expect(told.sort()).toEqual([...Array(5).fill("duplicate_settlement"), "paid"]);
    await expectAtRest(world);
  });

  it("is held by the payment that is bound to it, never by one that is bound to another", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [await onceResource(), await onceResource()];
      const forA = await newPayment(world, merchant, { resource: a });
      const toB = () =>
        fetch(`${world.baseUrl}/x402/resources/${b.id}/settle`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(forA.body),
        }).then(({ status }) => status);
      const statuses = await Promise.all([forA.settle().then(({ status }) => status), toB()]);
      expect([...statuses].sort()).toEqual([200, 409]);
      const holders = [await holderOf(a.id), await holderOf(b.id)];
      expect(holders).toEqual(statuses.map((status) => (status === 200 ? forA.nonce : null)));
    }
  });

  it("is free again when its payment ended unpaid", async () => {
    const resource = await onceResource();
    const first = await newPayment(world, merchant, { resource });
    await world.database.query("UPDATE signer SET state = 'quarantined'"); // nothing is sent for now
    const settling = first.settle();
    await until(async () => (await stateOf(world.database, first.nonce)) === "claimed", "it is claimed");
    const second = await newPayment(world, merchant, { resource });
    expect((await second.verify()).body).toMatchObject({ invalidReason: "invalid_payment_requirements" });
    await cancel(world, first.payer, first.nonce);
    await settling;
    await world.dev.anvil.mine(3);
    await until(async () => (await holderOf(resource.id)) === null, "it is released");
    await world.database.query("UPDATE signer SET state = 'active'");
    expect((await second.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
  });

  it("is let go for the next payer once its payment is credited, and not before", async () => {
    const resource = await onceResource();
    const readmit = () => world.database.db.tx((tx) => world.house.facilitator.readmit(tx, resource.id));
    const other = await newPayment(world, merchant, { resource: await onceResource() });
    expect((await other.settle()).body).toMatchObject({ success: true });
    const first = await newPayment(world, merchant, { resource });
    await world.database.query("UPDATE signer SET state = 'quarantined'"); // nothing is sent for now
    const settling = first.settle();
    await until(async () => (await stateOf(world.database, first.nonce)) === "claimed", "it is claimed");
    await readmit();
    expect(await holderOf(resource.id)).toBe(first.nonce);
    await world.database.query("UPDATE signer SET state = 'active'");
    expect((await settling).body).toMatchObject({ success: true });
    expect(await holderOf(resource.id)).toBe(first.nonce);
    await readmit();
    expect([await holderOf(resource.id), await holderOf(other.resource.id)]).toEqual([null, other.nonce]);
    const second = await newPayment(world, merchant, { resource });
    expect((await second.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
  });
});
