/** Deposits before they have their confirmations, and whose block leaves the chain, on a real database and without a chain. */
import { beforeEach, expect, it } from "vitest";
import type { Arrival, PaymentView } from "#facilitator";
import { hash } from "#kernel/bytes";
import { idMaker } from "#kernel/id";
import { systemRandom } from "#kernel/system";
import { sharedDatabase } from "../../support/db.ts";
import { movableClock } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { caller, newCaller } from "../caller.ts";
import { fakeFacilitator, payer, treasury, txHash, usdc, world } from "../world.ts";

const MINUTE = 60_000;
const database = sharedDatabase();
const time = movableClock();
const newId = idMaker({ clock: time, random: systemRandom });
let api: ReturnType<typeof world>;
let arrivals: readonly Arrival[] = [];
let orderId = "";
let payments: readonly PaymentView[] = [];

const facilitator = fakeFacilitator({
  payments: async () => payments,
  outgoing: {
    ...{ queue: async () => {}, isOurs: async () => false, cancel: async () => false },
    status: async (ids) =>
      ids.map((id) => ({ id, state: "failed", transaction: null, failure: "it moved nothing" })),
  },
  deposits: {
    async open(_tx, order) {
      orderId = order.orderId;
      const deadline = BigInt(Math.floor(order.expiresAt.getTime() / 1_000));
      return { address: payer, payTo: treasury, token: usdc, signature: "0x12", deadline };
    },
    async resign(_tx, _id, expiresAt) {
      const deadline = BigInt(Math.floor(expiresAt.getTime() / 1_000));
      return { address: payer, payTo: treasury, token: usdc, signature: "0x34", deadline };
    },
    arrivals: async () => arrivals,
    async take(_tx, rows) {
      const taken = new Set(rows.map(({ blockHash }) => blockHash));
      arrivals = arrivals.map((each) => (taken.has(each.blockHash) ? { ...each, isTaken: true } : each));
    },
  },
});
beforeEach(() => {
  arrivals = [];
  payments = [];
  api = world({ db: database.db, facilitator, time, ids: newId });
});

/** A deposit with all the confirmations that it needs, in the block of this number. */
function arrival(amount: bigint, block: number): Arrival {
  const txHash = hash(`0x${block.toString(16).padStart(64, "0")}`);
  return {
    ...{ subject: "", orderId, chain: "base", asset: "USDC", txHash, ordinal: 0, logIndex: 0, booking: 1 },
    ...{ blockNumber: block, blockHash: txHash, blockTime: time.now(), sender: payer, amount },
    ...{ confirmations: 12, isFinal: false, isCanonical: true, isTaken: false },
  };
}

/** A confirmed payment of ten dollars, and how it stands once the clearing has looked at it. */
async function newPayment() {
  const owner = await newCaller(database.db);
  const call = caller(api.app, owner);
  const post = async (path: string, body?: unknown) => {
    const answer = await call("POST", path, {
      headers: { "idempotency-key": newId("evt") },
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const { id } = await post("/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" } });
  const { clearing } = await post(`/v1/payment-intents/${id}/confirm`);
  const looked = async () => {
    await database.query("UPDATE clearing SET due_at = $1 WHERE id = $2", [time.now(), clearing.id]);
    // An agent could have paid it: after the first money a look ends, and another follows.
    for (let turn = 0; turn < 3; turn += 1) await api.loops.find(({ name }) => name === "clearing")?.turn();
    return (await call("GET", `/v1/payments/${id}`)).body;
  };
  return { id, merchantId: owner.merchantId, clearing, post, looked };
}

it("of money that was none of the payment takes nothing from it", async () => {
  const { clearing, looked } = await newPayment();
  arrivals = [arrival(10_000_000n, 1)];
  expect((await looked()).clearing.state).toBe("settled");
  arrivals = [...arrivals, arrival(5_000_000n, 2)];
  expect((await looked()).deposit.reviewRequired).toBe(true);
  const before = await ledgerOf(database, clearing.id);
  arrivals = arrivals.slice(0, 1);
  expect(await looked()).toMatchObject({
    clearing: { state: "settled" },
    deposit: { reviewRequired: false, deposits: [{ status: "credited" }, { status: "orphaned" }] },
  });
  expect(await ledgerOf(database, clearing.id)).toEqual([
    ...before,
    "single unmatched unmatched → deposit 5000000",
  ]);
  const told = "SELECT 1 FROM outbox WHERE subject = $1 AND type = 'payment.reversed'";
  expect(await database.query(told, [clearing.id])).toEqual([]);
});

it("of a part that its merchant let wait is to be decided about again when it is back", async () => {
  const { id, post, looked } = await newPayment();
  const part = arrival(5_000_000n, 3);
  arrivals = [part];
  expect((await looked()).clearing.state).toBe("funds-detected");
  time.forward(45 * MINUTE);
  expect((await looked()).clearing.state).toBe("in-review");
  await post(`/v1/payments/${id}/review`, { action: "extend" });
  arrivals = [];
  time.forward(45 * MINUTE);
  expect((await looked()).clearing.state).toBe("expired");
  arrivals = [{ ...part, booking: 2 }];
  expect(await looked()).toMatchObject({
    clearing: { state: "in-review" },
    deposit: { reviewRequired: true, received: { amount: "5.000000" } },
  });
});

it("while their merchant is asked about them end the payment where its window has closed", async () => {
  const { id, clearing, looked } = await newPayment();
  const part = arrival(5_000_000n, 8);
  arrivals = [part];
  await looked();
  time.forward(45 * MINUTE);
  expect((await looked()).clearing.state).toBe("in-review");
  arrivals = [];
  expect(await looked()).toMatchObject({
    paymentIntent: { id, status: "expired", failureReason: "order_expired" },
    clearing: { state: "expired" },
    deposit: { uri: null, reviewRequired: false },
  });
  const told =
    "SELECT type FROM outbox WHERE subject = $1 AND type LIKE 'payment.%' ORDER BY id DESC LIMIT 2";
  expect(await database.query(told, [clearing.id])).toEqual([
    { type: "payment.expired" },
    { type: "payment.reopened" },
  ]);
  // and is asked about again when they are back
  arrivals = [{ ...part, booking: 2 }];
  expect((await looked()).clearing.state).toBe("in-review");
});

it("count once they have their confirmations, and dust that is on its way where it completes the sum", async () => {
  const { clearing, looked } = await newPayment();
  const coming = (amount: bigint, block: number) => ({ ...arrival(amount, block), confirmations: 11 });
  const [other, dust] = [{ ...coming(10_000_000n, 1), asset: "EURC" }, coming(9_999n, 2)];
  arrivals = [other, dust];
  expect((await looked()).clearing.state).toBe("awaiting-funds");
  arrivals = [other, dust, coming(9_995_000n, 3), coming(5_000n, 4)];
  expect((await looked()).clearing.state).toBe("funds-detected");
  expect(await ledgerOf(database, clearing.id)).toEqual([]);
  // enough is on its way, and gets all the time that it takes
  time.forward(24 * 60 * MINUTE);
  expect((await looked()).clearing.state).toBe("funds-detected");
});

it("beside an agent's payment leave what that has settled", async () => {
  const { id, merchantId, clearing, looked } = await newPayment();
  const payment: PaymentView = {
    ...{ id: newId("stl"), merchantId, payableId: id, state: "submitting", creditEpoch: 0 },
    ...{ chain: "base", asset: "USDC", amount: 10_000_000n, fee: 50_000n, payer, payTo: treasury },
    ...{ transaction: hash(txHash), logIndex: 0, blockNumber: 1, blockHash: hash(txHash) },
    ...{ confirmations: 1, required: 1, reason: null, message: null },
    ...{ createdAt: time.now(), includedAt: time.now() },
  };
  payments = [payment];
  await looked();
  arrivals = [arrival(10_000_000n, 6)];
  await looked();
  payments = [{ ...payment, state: "included" }];
  expect((await looked()).deposit.reviewRequired).toBe(true);
  arrivals = arrivals.map((each) => ({ ...each, isCanonical: false, isTaken: false, confirmations: 0 }));
  expect(await looked()).toMatchObject({
    clearing: { state: "settled", providerReference: payment.id },
    deposit: { reviewRequired: false },
  });
  expect(await ledgerOf(database, clearing.id)).toEqual([
    "single clearing deposit → clearing 10000000",
    "single clearing clearing → deposit 10000000",
  ]);
});

it("are sent back five times where that fails, each part of them for itself", async () => {
  const { id, clearing, post, looked } = await newPayment();
  await post(`/v1/payment-intents/${id}/cancel`);
  arrivals = [{ ...arrival(12_000_000n, 7), isFinal: true }];
  expect((await looked()).clearing.state).toBe("in-review");
  await post(`/v1/payments/${id}/review`, {
    action: "return",
    destination: `0x${"5".repeat(40)}`,
    note: "sorry",
  });
  for (let turn = 0; turn < 14; turn += 1) await looked();
  expect(
    await database.query(
      "SELECT source, state, note, count(*)::int FROM clearing_return WHERE clearing_id = $1 GROUP BY 1, 2, 3 ORDER BY 1",
      [clearing.id],
    ),
  ).toEqual(
    ["clearing", "overpayment"].map((source) => ({ source, state: "failed", note: "sorry", count: 5 })),
  );
});
