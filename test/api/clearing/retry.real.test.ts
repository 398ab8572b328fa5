/** Payments that are led on by hand: retried, paid through the router, and what another provider's steps do. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stepFailed, transition } from "../../../api/clearing/verbs/lead.ts";
import { findPayment, lockPayment, paidBy } from "../../../api/clearing/verbs/payment.ts";
import { startWorld, until } from "../../support/house.ts";
import {
  movableClock,
  newSeller,
  routeOrder,
  type Seller,
  sendTo,
  statesOf,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
let world: Awaited<ReturnType<typeof startWorld>>;
let seller: Seller;
beforeAll(async () => {
  world = await startWorld({ clock });
  seller = await newSeller(world);
});
afterAll(() => world.stop());

const idOf = (position: { paymentIntent: { id: string } }) => position.paymentIntent.id;
const ordersOf = (clearingId: string) =>
  world.database.query(
    `SELECT seq, id, encode(address, 'hex') AS address, encode(token, 'hex') AS token, amount, rate_id, state,
       encode(signature, 'hex') AS signature, expires_at
     FROM clearing_order WHERE clearing_id = $1 ORDER BY seq`,
    [clearingId],
  );
const keeping = () => ({
  facilitator: world.house.facilitator,
  baseUrl: world.baseUrl,
  newId: world.house.newId,
  now: () => clock.now(),
});

/** While `work` runs the loop leaves the intent alone, as it does with what somebody else has in hand. */
async function heldBack<T>(id: string, work: (letGo: () => void) => Promise<T>): Promise<T> {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const holding = world.database.db.tx(async (tx) => {
    await lockPayment(tx, seller.id, id);
    await released;
  });
  try {
    return await work(letGo);
  } finally {
    letGo();
    await holding;
  }
}

describe("POST /v1/payments/{id}/retry", () => {
  it("200: an expired order is signed again with the same terms, and the payment settles once", async () => {
    const asked = await seller.asked();
    const id = idOf(asked);
    clock.forward(32 * MINUTE);
    await seller.reaches(id, "expired");
    const before = await ordersOf(asked.clearing.id);
    expect(before).toMatchObject([{ seq: 1, state: "expired" }]);
    const retried = await heldBack(id, async (letGo) => {
      await sendTo(world, asked.deposit.address, 10_000_000n);
      const arrivals = () =>
        world.house.facilitator.deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
      await until(async () => (await arrivals()).length === 1, "it is seen");
      const answer = seller.retry(asked.clearing.id);
      await until(async () => {
        const waiting = await world.database.query("SELECT 1 FROM pg_locks WHERE NOT granted");
        return waiting.length > 0;
      }, "the retry waits for its turn");
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
    for (const { status, body } of all)
      expect(status === 200 || (status === 409 && body.code === "funds_not_received")).toBe(true);
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

describe("a payment that another provider leads", () => {
  const sandbox = { provider: "sandbox" };

  it("is confirmed without an order, and ends with its window", async () => {
    const asked = await seller.asked(sandbox);
    expect(asked).toMatchObject({
      paymentIntent: {
        provider: "sandbox",
        executionPath: "deposit-match",
        payment: { chain: "sandbox", asset: "USDC" },
      },
      clearing: { state: "awaiting-funds", provider: "sandbox", providerReference: null },
      deposit: null,
    });
    expect(await ordersOf(asked.clearing.id)).toEqual([]);
    expect((await fetch(`${world.baseUrl}/x402/payables/${idOf(asked)}`)).status).toBe(404);
    clock.forward(32 * MINUTE);
    await seller.reaches(idOf(asked), "expired");
  });

  it("tries a failed step eight times at growing pauses, then fails and can be retried", async () => {
    const asked = await seller.asked(sandbox);
    const failure = { code: "provider_error" as const, reason: "The simulator says no.", isPermanent: false };
    const lead = (steps: Parameters<typeof transition>[3]) =>
      world.database.db.tx(async (tx) => {
        const { intent, clearing } = await lockPayment(tx, seller.id, idOf(asked));
        if (!clearing) throw new Error("it was confirmed");
        return transition(tx, keeping(), { intent, clearing }, steps);
      });
    const fail = () =>
      world.database.db.tx(async (tx) => {
        const { intent, clearing } = await lockPayment(tx, seller.id, idOf(asked));
        if (!clearing) throw new Error("it was confirmed");
        return stepFailed(tx, keeping(), { intent, clearing }, failure);
      });
    await lead([
      { trigger: "detect", cause: "told" },
      { trigger: "receive", cause: "told" },
    ]);
    const pauses: (number | null)[] = [];
    for (let i = 0; i < 9; i += 1) {
      await lead([{ trigger: "settle", cause: "its turn" }]);
      const at = clock.now().getTime();
      const { retryAt } = await fail();
      pauses.push(retryAt && Math.round((retryAt.getTime() - at) / 1000));
    }
    expect(pauses).toEqual([5, 15, 45, 120, 300, 600, 600, 600, null]);
    expect(await seller.read(idOf(asked))).toMatchObject({
      paymentIntent: { status: "failed", failureReason: "provider_error" },
      clearing: { state: "failed", failure: { code: "provider_error", reason: "The simulator says no." } },
    });
    const retried = await seller.retry(idOf(asked));
    expect(retried).toMatchObject({
      status: 200,
      body: { clearing: { state: "funds-received", failure: null } },
    });
    await expect(lead([{ trigger: "credit", cause: "too early" }])).rejects.toThrow(
      "a clearing that is funds-received cannot credit",
    );
    expect((await seller.read(idOf(asked))).clearing.state).toBe("funds-received");
  });
});
