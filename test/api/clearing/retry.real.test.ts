/** Payments that are retried or looked at again, and payments through the router. */
import { describe, expect, it } from "vitest";
import type { LogFields } from "#kernel/log";
import { leadDue } from "../../../api/clearing/lead.ts";
import { findPayment, paidBy } from "../../../api/clearing/verbs/payment.ts";
import { sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  isIntentAwaited,
  movableClock,
  routeOrder,
  sendTo,
  sharedSeller,
  statesOf,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

const idOf = (position: { paymentIntent: { id: string } }) => position.paymentIntent.id;
const ordersOf = (clearingId: string) =>
  world.database.query(
    `SELECT seq, id, encode(address, 'hex') AS address, encode(token, 'hex') AS token, amount, rate_id, state,
       encode(signature, 'hex') AS signature, expires_at
     FROM clearing_order WHERE clearing_id = $1 ORDER BY seq`,
    [clearingId],
  );

describe("POST /v1/payments/{id}/retry", () => {
  it("200: an expired order is signed again with the same terms, and the payment settles once", async () => {
    const asked = await seller.asked();
    const id = idOf(asked);
    clock.forward(32 * MINUTE);
    await seller.reaches(id, "expired");
    const before = await ordersOf(asked.clearing.id);
    expect(before).toMatchObject([{ seq: 1, state: "expired" }]);
    const retried = await heldBack(world, { merchantId: seller.id, id }, async (letGo) => {
      await sendTo(world, asked.deposit.address, 10_000_000n);
      const arrivals = () =>
        world.house.facilitator.deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
      await until(async () => (await arrivals()).length === 1, "it is seen");
      const answer = seller.retry(asked.clearing.id);
      await until(() => isIntentAwaited(world), "the retry waits for its turn");
      letGo();
      return answer;
    });
    expect(retried).toMatchObject({
      status: 200,
      body: {
        paymentIntent: { status: "completed", failureReason: null },
        clearing: {
          state: "settled",
          rate: { lockedAt: asked.clearing.rate.lockedAt },
          sourceAmount: asked.clearing.sourceAmount,
        },
        deposit: { address: asked.deposit.address },
      },
    });
    expect(statesOf(retried.body).slice(2)).toEqual([
      "expired",
      "(expired)",
      "funds-received",
      "settling",
      "settled",
    ]);
    const [old, now] = [before[0], (await ordersOf(asked.clearing.id))[0]];
    expect(now).toMatchObject({
      ...old,
      state: "consumed",
      signature: expect.anything(),
      expires_at: expect.anything(),
    });
    expect(now?.signature).not.toBe(old?.signature);
    expect(now?.expires_at > old?.expires_at).toBe(true);
    // again: the position, and nothing new
    const again = await seller.retry(id);
    expect(again).toMatchObject({ status: 200, body: retried.body });
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 10000000",
      "pending net clearing → available 9950000",
      "pending fee clearing → fees 50000",
    ]);
    expect(await toldOf(world.database, asked.clearing.id)).toEqual([
      "payment.clearing",
      "payment.expired",
      "payment.reopened",
      "payment.funds_received",
      "payment.completed",
    ]);
    await expectAtRest(world);
  });

  it("ten at once settle once", async () => {
    const asked = await seller.asked();
    clock.forward(32 * MINUTE);
    await seller.reaches(idOf(asked), "expired");
    await sendTo(world, asked.deposit.address, 10_000_000n);
    const all = await Promise.all(Array.from({ length: 10 }, () => seller.retry(idOf(asked))));
    const told = all.map(({ status, body }) => (status === 200 ? "settles" : body.code));
    expect(told.filter((each) => each !== "settles" && each !== "funds_not_received")).toEqual([]);
    await seller.reaches(idOf(asked), "settled");
    expect(
      (await ledgerOf(world.database, asked.clearing.id)).filter((row) => row.startsWith("pending")),
    ).toHaveLength(2);
  });
});

describe("the router", () => {
  it("settles exactly the order, into the treasury; the payer is known", async () => {
    const asked = await seller.asked({
      amount: { amount: "49.99", asset: "USD" },
      executionPath: "on-chain-contract",
    });
    expect(asked).toMatchObject({
      paymentIntent: { executionPath: "on-chain-contract" },
      deposit: { uri: null, amount: { amount: "49.990000" } },
    });
    const { txHash, payer } = await routeOrder(world, asked);
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid).toMatchObject({
      clearing: { transactionHash: txHash, netAmount: { amount: "49.740050" } },
      deposit: { received: { amount: "49.990000" }, deposits: [{ txHash, status: "credited" }] },
    });
    expect(paid.paymentIntent.payment.payerAddress.toLowerCase()).toBe(payer.address);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing treasury → clearing 49990000",
      "pending net clearing → available 49740050",
      "pending fee clearing → fees 249950",
    ]);
    const { clearing } = await findPayment(world.database.db.pool, seller.id, asked.clearing.id);
    const deposits = clearing ? await paidBy(world.database.db.pool, clearing) : [];
    expect(deposits).toMatchObject([{ sender: payer.address, amount: 49_990_000n, txHash }]);
    // the contract takes it once
    await expect(routeOrder(world, asked)).rejects.toThrow("a transaction of the test failed");
    await expectAtRest(world);
  });
});

describe("a payment that is due and cannot be brought up", () => {
  it.each([
    ["warn", "an outage", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })],
    ["error", "anything else", new Error("a mistake of ours")],
  ] as const)("%s: %s; nothing moves, and half a minute later it is brought up", async (level, _, cause) => {
    const asked = await seller.asked();
    const id = asked.clearing.id;
    const told: string[] = [];
    const say = (as: string) => (fields: LogFields, message: string) => {
      if (fields.clearing === id) told.push(`${as}: ${message}`);
    };
    // Of a clock ahead of the house's, whose own loop sees nothing due and leaves it alone.
    let now = clock.now().getTime() + 32 * MINUTE;
    const desk = {
      db: world.database.db,
      facilitator: world.house.facilitator,
      rates: { rate: () => Promise.reject(new Error("needs no rate")) },
      baseUrl: "http://127.0.0.1",
      isSandbox: true,
      isFull: async () => false,
      newId: world.house.newId,
      now: () => new Date(now),
      log: { info: say("info"), warn: say("warn"), error: say("error") },
    };
    const dueAt = async () => {
      const [row] = await world.database.query("SELECT state, due_at FROM clearing WHERE id = $1", [id]);
      return row;
    };
    await leadDue({ ...desk, db: { ...desk.db, pool: desk.db.pool, tx: () => Promise.reject(cause) } });
    expect(told).toEqual([`${level}: a clearing could not be brought up`]);
    expect(await dueAt()).toEqual({ state: "awaiting-funds", due_at: new Date(now + 30_000) });
    await leadDue(desk);
    expect(await dueAt()).toMatchObject({ state: "awaiting-funds" });
    now += 30_000;
    await leadDue(desk);
    expect(await dueAt()).toMatchObject({ state: "expired" });
    expect(told).toHaveLength(1);
    expect(await ledgerOf(world.database, id)).toEqual([]);
  });
});
