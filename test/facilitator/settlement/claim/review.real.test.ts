/** A person decides about a payment whose signature was public before it was claimed for something else. */
import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { outgoing } from "../../../../facilitator/settlement/treasury/tables.ts";
import {
  get,
  newPayer,
  post,
  sharedMerchant,
  sharedWorld,
  signPayment,
  until,
} from "../../../support/house.ts";
import { claimOf, factsOf, ledgerOf, waitingForLocks } from "../../../support/records.ts";
import { expectAtRest, newPayment, submitAsStranger, withoutSigning } from "../../../support/scene.ts";

const world = sharedWorld();
const merchant = sharedMerchant(world);

async function newIntent(): Promise<string> {
  const made = await merchant.call("/v1/payment-intents", {
    method: "POST",
    headers: { "Idempotency-Key": randomUUID() },
    body: JSON.stringify({ amount: { amount: "0.01", asset: "USD" } }),
  });
  return ((await made.json()) as { id: string }).id;
}

/** Settles a payment as one of the intent, whatever it was offered for. */
const payIntent = (id: string, { paymentPayload, ...rest }: Awaited<ReturnType<typeof newPayment>>["body"]) =>
  post(world.baseUrl, "/x402/settle", {
    ...rest,
    paymentPayload: { ...paymentPayload, resource: { url: `${world.baseUrl}/x402/payables/${id}` } },
  });

/** A payment that was verified for one thing, submitted by a stranger, and then claimed for an intent. */
async function inReview() {
  const honest = await newPayment(world, merchant);
  expect(await honest.verify()).toMatchObject({ body: { isValid: true } });
  const strangers = await submitAsStranger(world, honest.signed.call);
  const intent = await newIntent();
  const settle = () => payIntent(intent, honest.body);
  const claimed = await settle();
  expect(claimed.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
  const { paymentId } = claimed.body.extra as { paymentId: string };
  const status = async () => (await get(world.baseUrl, `/x402/settlements/${paymentId}`)).body;
  expect(await status()).toMatchObject({ status: "review" });
  return { ...honest, intent, strangers, settle, paymentId, status };
}

const statusOfIntent = async (id: string) => {
  const found = await merchant.call(`/v1/payments/${id}`);
  return ((await found.json()) as { paymentIntent: { status: string } }).paymentIntent.status;
};
const coins = (owner: `0x${string}`) =>
  world.dev.chain.tokenBalance(world.dev.usdc, owner as never, "latest");

it("is told what waits, and why", async () => {
  const { paymentId, strangers, payer, intent } = await inReview();
  await expectAtRest(world);
  const listed = await world.house.reviews.list();
  expect(listed.filter(({ id }) => id === paymentId)).toEqual([
    {
      ...{ id: paymentId, kind: "x402", merchantId: merchant.id, payableId: intent, chainId: 31_337 },
      ...{ token: world.dev.usdc, amount: 10_000n, payer: payer.address, transaction: strangers },
      ...{ since: expect.any(Date), why: expect.stringContaining("a stranger submitted its authorization") },
    },
  ]);
});

it("accepts it: the merchant who claimed it is credited with the stranger's transaction, and nothing is sent", async () => {
  const { paymentId, nonce, strangers, settle, intent } = await inReview();
  await expectAtRest(world);
  expect(await world.house.reviews.accept(paymentId)).toBeNull();
  expect(await settle()).toMatchObject({ status: 200, body: { success: true, transaction: strangers } });
  await expectAtRest(world);
  expect(await claimOf(world.database, nonce)).toMatchObject({
    ...{ state: "final", attempts: 0, reason: null, settled_by: "third-party" },
  });
  expect(await ledgerOf(world.database, paymentId)).toEqual([
    "single net unmatched → available 9950",
    "single fee unmatched → fees 50",
  ]);
  await until(async () => (await statusOfIntent(intent)) === "completed", "the intent is completed");
  expect(await world.house.reviews.accept(paymentId)).toBe("not-in-review");
  expect(await world.house.reviews.sendBack(paymentId)).toBe("not-in-review");
});

it("sends it back: the payer has the money again, the merchant nothing, and what was held can be paid anew", async () => {
  const { paymentId, nonce, settle, intent, payer, status, resource } = await inReview();
  expect(await coins(payer.address)).toBe(0n);
  await until(async () => {
    await world.dev.anvil.mine();
    return (await world.house.reviews.sendBack(paymentId)) === null;
  }, "its block is final");
  expect(await settle()).toMatchObject({
    body: { success: false, errorReason: "invalid_payment_requirements", extra: { chargeable: false } },
  });
  expect(await status()).toMatchObject({ status: "cancelled", chargeable: false });
  await until(async () => (await coins(payer.address)) === 10_000n, "the money is with its payer");
  await expectAtRest(world);
  expect(await claimOf(world.database, nonce)).toMatchObject({ state: "cancelled", credit_state: "none" });
  expect(await factsOf(world.database, paymentId)).toEqual(["settlement.claimed", "settlement.cancelled"]);
  expect(await ledgerOf(world.database, paymentId)).toEqual([
    "single out unmatched → returns-in-transit 10000",
    "pending out returns-in-transit → treasury 10000",
    "post out returns-in-transit → treasury 10000",
  ]);
  expect(await world.house.reviews.accept(paymentId)).toBe("not-in-review");
  // and another payment of the same thing
  const again = await newPayer(world.dev, 10_000n);
  const { body } = await signPayment(world.dev, again, resource);
  expect(await payIntent(intent, body)).toMatchObject({ body: { success: true } });
});

/** A payment that was to be sent back, and whose order ended without having been sent. */
async function withLostReturn() {
  const reviewed = await inReview();
  const { paymentId } = reviewed;
  await withoutSigning(world, async () => {
    await until(async () => {
      await world.dev.anvil.mine();
      return (await world.house.reviews.sendBack(paymentId)) === null;
    }, "its block is final");
    // while it is on its way nothing is to be decided
    expect(await world.house.reviews.sendBack(paymentId)).toBe("not-in-review");
    const [order] = await world.database.query<{ id: string }>("SELECT id FROM outgoing WHERE subject = $1", [
      paymentId,
    ]);
    const { cancel } = world.house.facilitator.outgoing;
    expect(await world.database.db.tx((tx) => cancel(tx, order?.id ?? ""))).toBe(true);
  });
  return reviewed;
}
const sentOnceMore = [
  "single out unmatched → returns-in-transit 10000",
  "single back returns-in-transit → unmatched 10000",
  "single out unmatched → returns-in-transit 10000",
  "pending out returns-in-transit → treasury 10000",
  "post out returns-in-transit → treasury 10000",
];

it("is asked once more where the money could not be sent, and sends it again", async () => {
  const { paymentId, payer } = await withLostReturn();
  const listed = await world.house.reviews.list();
  expect(listed.find(({ id }) => id === paymentId)?.why).toMatch(/^its money could not be sent back/);
  expect(await world.house.reviews.accept(paymentId)).toBe("not-in-review");
  expect(await world.house.reviews.sendBack(paymentId)).toBeNull();
  await until(async () => (await coins(payer.address)) === 10_000n, "the money is with its payer");
  await expectAtRest(world);
  expect(await ledgerOf(world.database, paymentId)).toEqual(sentOnceMore);
});

it("is not accepted where its authorization was spent otherwise: it ends by itself", async () => {
  const { paymentId } = await inReview();
  const spentIn = (block: number | null) =>
    world.database.query("UPDATE claim SET spent_block = $1 WHERE id = $2", [block, paymentId]);
  await spentIn(1_000_000);
  expect(await world.house.reviews.accept(paymentId)).toBe("spent");
  await spentIn(null);
  expect(await world.house.reviews.accept(paymentId)).toBeNull();
  await expectAtRest(world);
});

it("is asked once more, too, where what carried it has expired, and not while that is on its way", async () => {
  const { paymentId, payer } = await withLostReturn();
  const { pool } = world.database.db;
  // given that it was not called off: its claim was signed, and ended
  const [reviewed] = await pool
    .select()
    .from(claim)
    .where(eq(claim.id, paymentId as `stl_${string}`));
  if (!reviewed) throw new Error("the payment has no claim");
  const parts = { ...reviewed, nonce: hash(`0x${"7e".repeat(32)}`) };
  const carrier = { ...parts, claimKey: claimKey(parts), id: `stl_of_${paymentId}` as const, kind: "return" };
  const isAsked = async () => (await world.house.reviews.list()).some(({ id }) => id === paymentId);
  await withoutSigning(world, async () => {
    await pool.insert(claim).values({ ...carrier, state: "review" } as typeof claim.$inferInsert);
    await pool
      .update(outgoing)
      .set({ cancelledAt: null, claimKey: carrier.claimKey })
      .where(eq(outgoing.subject, paymentId));
    expect(await isAsked()).toBe(false);
    await pool.update(claim).set({ state: "expired" }).where(eq(claim.id, carrier.id));
    expect(await isAsked()).toBe(true);
  });
  expect(await world.house.reviews.sendBack(paymentId)).toBeNull();
  await until(async () => (await coins(payer.address)) === 10_000n, "the money is with its payer");
  await expectAtRest(world);
  expect(await ledgerOf(world.database, paymentId)).toEqual(sentOnceMore);
});

/** Two who send it back in the same moment. */
async function sentBackTwice(paymentId: string) {
  const { both } = await world.database.db.tx(async (tx) => {
    await tx.execute(sql`SELECT FROM claim WHERE id = ${paymentId} FOR UPDATE`);
    const both = [1, 2].map(() => world.house.reviews.sendBack(paymentId));
    await until(async () => (await waitingForLocks(world)) >= 2, "both wait for it");
    return { both };
  });
  return new Set(await Promise.all(both));
}

it("is decided by the first of two who decide at once: its money goes back once", async () => {
  const { paymentId, payer } = await inReview();
  await expectAtRest(world);
  expect(await sentBackTwice(paymentId)).toEqual(new Set([null, "not-in-review"]));
  const orders = await world.database.query("SELECT FROM outgoing WHERE subject = $1", [paymentId]);
  expect(orders).toHaveLength(1);
  await until(async () => (await coins(payer.address)) === 10_000n, "the money is with its payer");
  await expectAtRest(world);
});

it("goes back once, too, where two send it once more at once, while others' money waits beside it", async () => {
  const { paymentId, payer } = await withLostReturn();
  await inReview();
  expect(await sentBackTwice(paymentId)).toEqual(new Set([null, "not-in-review"]));
  await until(async () => (await coins(payer.address)) === 10_000n, "the money is with its payer");
  await expectAtRest(world);
  expect(await ledgerOf(world.database, paymentId)).toEqual(sentOnceMore);
});

it("cannot decide for good about a block that may leave the chain, nor about what nobody knows", async () => {
  const { paymentId } = await inReview();
  expect(await world.house.reviews.sendBack(paymentId)).toMatch(/^not-(final|paid)$/);
  expect(await world.house.reviews.accept("stl_nobody")).toBe("not-in-review");
  expect(await world.house.reviews.sendBack("stl_nobody")).toBe("not-in-review");
});
