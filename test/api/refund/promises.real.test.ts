/** Refunds of payments that are not final yet: accepted, counted, and left alone by payouts until they can be reserved. */
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { books, type Merchant, newMerchant, sharedWorld, until } from "../../support/house.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";
import { call, held, listed, paidMerchant, pay, purse, read, refund, untilSucceeded, usdc } from "./paid.ts";

const world = sharedWorld();

/** Asks to be paid out to an address of the merchant's own. */
async function payout(merchant: Merchant, amount: string) {
  const destination = checksum(newKey().address);
  await call(merchant, "/v1/payout-addresses", { body: { chain: "local", address: destination } });
  const asked = await call(merchant, "/v1/payouts", {
    body: { amount: usdc(amount), chain: "local", destination },
  });
  return asked.body.code ?? asked.status;
}

/** The same promise once more in another token, and on another chain: other purses of the merchant's. */
const promiseElsewhere = (id: string) =>
  world.database.query(
    `INSERT INTO refund SELECT copied.* FROM refund, (VALUES ('{"asset": "EURC"}'::jsonb), ('{"chain": "elsewhere"}')) AS other(place),
       jsonb_populate_record(refund, place || jsonb_build_object('id', 're_' || md5(place::text),
         'idempotency_key', place::text, 'due_at', NULL)) AS copied
     WHERE refund.id = $1`,
    [id],
  );

/** While `work` runs nobody else gets at the refund's row: its money stays promised, and is not reserved. */
async function withHeld<T>(id: string, work: () => Promise<T>): Promise<T> {
  return world.database.db.tx(async (tx) => {
    await tx.execute(sql`SELECT 1 FROM refund WHERE id = ${id} FOR UPDATE`);
    return work();
  });
}

describe("a refund before its payment is final", () => {
  it("is accepted and counted; its money is reserved and leaves once the payment is posted", async () => {
    // given a payment that was credited a moment ago
    const merchant = await newMerchant(world);
    const paid = await pay(world, merchant, "0.10");
    expect(await purse(merchant)).toEqual(["0.000000", "0.099500", "0.000000"]);
    // when most of it is refunded
    const made = await refund(merchant, paid.id, { amount: usdc("0.08") });
    expect(made).toMatchObject({
      status: 201,
      body: { state: "pending", destination: checksum(paid.payer) },
    });
    // then nothing is booked, but it counts
    expect(await ledgerOf(world.database, made.body.id)).toEqual([]);
    expect(await purse(merchant)).toEqual(["0.000000", "0.099500", "0.000000"]);
    const tooMuch = await refund(merchant, paid.id, { amount: usdc("0.03") });
    expect(tooMuch.body).toMatchObject({ code: "refund_exceeds_refundable" });
    // and it goes on by itself once the payment is final
    await expectAtRest(world);
    await until(async () => (await held(world, paid.payer)) === 80_000n, "the money arrives");
    await untilSucceeded(world, merchant, made.body.id);
    expect(await ledgerOf(world.database, made.body.id)).toEqual([
      "single net merchant → merchant 79600",
      "single fee fees → merchant 400",
      "pending out merchant → treasury 80000",
      "post out merchant → treasury 80000",
    ]);
    expect(await purse(merchant)).toEqual(["0.019900", "0.000000", "0.000000"]);
    expect(
      (await factsOf(world.database, made.body.id)).filter((type) => type.startsWith("refund.")),
    ).toEqual(["refund.created", "refund.processing", "refund.succeeded"]);
  });

  it("can be cancelled while nothing is reserved: no row was ever written for it", async () => {
    const merchant = await newMerchant(world);
    const paid = await pay(world, merchant, "0.10");
    const { body } = await refund(merchant, paid.id);
    expect(await call(merchant, `/v1/refunds/${body.id}/cancel`)).toMatchObject({
      status: 200,
      body: { state: "cancelled" },
    });
    await expectAtRest(world);
    expect(await purse(merchant)).toEqual(["0.099500", "0.000000", "0.000000"]);
    expect(await ledgerOf(world.database, body.id)).toEqual([]);
    expect(await read(merchant, body.id)).toMatchObject({ state: "cancelled", providerReference: null });
    // and it holds nothing up any more
    expect(await payout(merchant, "0.0995")).toBe(201);
  });

  it("does not stop what the merchant has from being paid out: its own payment will bring its money", async () => {
    const { merchant } = await paidMerchant(world, "0.10");
    const paid = await pay(world, merchant, "0.10");
    const made = await refund(merchant, paid.id);
    expect(await payout(merchant, "0.0995")).toBe(201);
    await expectAtRest(world);
    await untilSucceeded(world, merchant, made.body.id);
    expect(await held(world, paid.payer)).toBe(100_000n);
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.000000"]);
  });

  it("holds nothing back while its payment is off the chain, and is kept once that is there again", async () => {
    const { merchant } = await paidMerchant(world, "0.10");
    const paid = await pay(world, merchant, "0.10");
    const made = await refund(merchant, paid.id);
    const stateOf = async () => (await call(merchant, `/v1/payments/${paid.id}`, { method: "GET" })).body;
    await withMiningHeld(world, async () => {
      await world.dev.anvil.rpc("anvil_reorg", [1, []]);
      await until(async () => (await stateOf()).clearing.state === "reversed", "it is reversed");
      expect(await payout(merchant, "0.0995")).toBe(201);
    });
    await untilSucceeded(world, merchant, made.body.id);
    expect(await held(world, paid.payer)).toBe(100_000n);
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.000000"]);
  });

  it("without our fee it needs more than its payment brings: payouts leave the difference", async () => {
    const { merchant } = await paidMerchant(world, "0.10");
    await call(merchant, "/v1/merchant", { method: "PATCH", body: { refundFees: false } });
    const paid = await pay(world, merchant, "0.10");
    const made = await refund(merchant, paid.id);
    expect(made.status).toBe(201);
    expect(await payout(merchant, "0.099001")).toBe("insufficient_balance");
    expect(await purse(merchant)).toEqual(["0.099500", "0.099500", "0.000000"]);
    expect(await payout(merchant, "0.099")).toBe(201);
    await expectAtRest(world);
    await untilSucceeded(world, merchant, made.body.id);
    expect(await purse(merchant)).toEqual(["0.000000", "0.000000", "0.000000"]);
  });
});

describe("money that was promised and is posted, but not reserved yet", () => {
  it("is left alone by payouts and by other refunds; another merchant's, and what is in another purse, is not", async () => {
    const { merchant: another } = await paidMerchant(world, "0.02");
    const merchant = await newMerchant(world);
    const other = await pay(world, merchant, "0.10");
    const promised = await pay(world, merchant, "0.10");
    const made = await refund(merchant, promised.id);
    await withHeld(made.body.id, async () => {
      await expectAtRest(world);
      expect(await purse(merchant)).toEqual(["0.199000", "0.000000", "0.000000"]);
      // when the merchant would take all of it out, or so much that the rest is too little
      expect(await payout(merchant, "0.199")).toBe("insufficient_balance");
      expect(await payout(merchant, "0.099501")).toBe("insufficient_balance");
      // then it gets what is over, and no more
      await promiseElsewhere(made.body.id);
      expect(await payout(merchant, "0.0995")).toBe(201);
      expect(await payout(another, "0.0199")).toBe(201);
      expect((await refund(merchant, other.id, { amount: usdc("0.01") })).body.code).toBe(
        "insufficient_balance",
      );
      expect(await listed(merchant, other.id)).toEqual([]);
    });
    await untilSucceeded(world, merchant, made.body.id);
    expect(await held(world, promised.payer)).toBe(100_000n);
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, treasury: after.chain });
  });

  it("a payout that races a refund before finality: the promise is kept, or was not made", async () => {
    const { merchant } = await paidMerchant(world, "0.10");
    await call(merchant, "/v1/merchant", { method: "PATCH", body: { refundFees: false } });
    const paid = await pay(world, merchant, "0.10");
    // the refund needs 0.0005 beside what its payment will bring, the payout all that there is
    const [back, out] = await Promise.all([refund(merchant, paid.id), payout(merchant, "0.0995")]);
    expect([back.body.code ?? back.status, out].map(String).sort()).toEqual(["201", "insufficient_balance"]);
    await expectAtRest(world);
    if (back.status === 201) await untilSucceeded(world, merchant, back.body.id);
  });

  it("of many refunds and payouts at once, before and after finality, every one that was accepted is carried out", async () => {
    const merchant = await newMerchant(world);
    const final = [await pay(world, merchant, "0.10"), await pay(world, merchant, "0.10")];
    await expectAtRest(world);
    const coming = [await pay(world, merchant, "0.10"), await pay(world, merchant, "0.10")];
    const asked = await Promise.all([
      ...[...final, ...coming].flatMap(({ id }) => [
        refund(merchant, id, { amount: usdc("0.04") }),
        refund(merchant, id, { amount: usdc("0.07") }),
        refund(merchant, id),
      ]),
      ...["0.05", "0.1", "0.15"].map((amount) => payout(merchant, amount)),
    ]);
    await expectAtRest(world);
    const made = asked.flatMap((each) =>
      typeof each === "object" && each.status === 201 ? [each.body] : [],
    );
    expect(made.length).toBeGreaterThanOrEqual(2);
    for (const { id } of made) await untilSucceeded(world, merchant, id);
    for (const { id, payer } of [...final, ...coming]) {
      const refunded = made.filter(({ paymentIntentId }) => paymentIntentId === id);
      const total = refunded.reduce((sum, { amount }) => sum + BigInt(amount.amount.replace(".", "")), 0n);
      expect(total <= 100_000n).toBe(true);
      expect(await held(world, payer)).toBe(total);
    }
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, treasury: after.chain });
  });
});
