/** What the clearing hears of agents' payments, on a real database and without a chain. */
import { beforeEach, expect, it } from "vitest";
import { areCaughtUp } from "#api";
import type { PaymentView } from "#facilitator";
import { hash } from "#kernel/bytes";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { type Executor, outbox } from "#store";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { type Answer, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, payer, resourceId, treasury, txHash, usdc, world } from "../world.ts";

const database = sharedDatabase();
const newId = idMaker({ clock: systemClock, random: systemRandom });
let api: ReturnType<typeof world>;
let payments: readonly PaymentView[] = [];
/** Runs once, while somebody waits to be told of payments: what is told is older. */
let whileAsked: (() => Promise<unknown>) | undefined;
/** Runs while a confirm holds its intent. */
let duringConfirm = async () => {};
beforeEach(() => {
  api = world({ db: database.db, facilitator, time: systemClock, ids: newId });
  payments = [];
  duringConfirm = async () => {};
});

const facilitator = fakeFacilitator({
  async payments(by) {
    const told = payments;
    const work = whileAsked;
    whileAsked = undefined;
    await work?.();
    return told.filter(({ id, payableId }) =>
      "ids" in by ? by.ids.includes(id) : "payableIds" in by && by.payableIds.includes(payableId),
    );
  },
  deposits: {
    async open() {
      await duringConfirm();
      const deadline = BigInt(Math.floor(Date.now() / 1_000) + 1_800);
      return { address: payer, payTo: treasury, token: usdc, signature: "0x12", deadline };
    },
    resign: () => Promise.reject(new Error("nothing is signed again")),
    arrivals: async () => [],
    take: async () => {},
  },
});

type Body = Answer["body"];
const look = () => api.loops.find(({ name }) => name === "clearing")?.turn();

async function newSeller() {
  const owner = await newCaller(database.db);
  const call = caller(api.app, owner);
  const post = (path: string, body?: unknown) =>
    call("POST", path, { headers: { "idempotency-key": newId("evt") }, ...(body ? { body } : {}) });
  return { ...owner, post, get: async (path: string) => (await call("GET", path)).body };
}

function paymentOf(merchantId: string, of: Pick<PaymentView, "payableId" | "state">): PaymentView {
  return {
    ...{ id: newId("stl"), merchantId, creditEpoch: 0, chain: "base", asset: "USDC", ...of },
    ...{ amount: 10_000_000n, fee: 50_000n, payer, payTo: treasury, transaction: hash(txHash) },
    ...{ logIndex: 0, blockNumber: 1, blockHash: hash(txHash), confirmations: 1, required: 1 },
    ...{ reason: null, message: null, createdAt: new Date(), includedAt: new Date() },
  };
}

async function hear(type: string, ...about: readonly PaymentView[]): Promise<void> {
  const facts = about.map(({ id, merchantId, payableId }) => ({
    ...{ id: newId("evt"), type, subject: id, merchantId, payload: { payableId } },
  }));
  await database.db.tx((tx) => outbox.append(tx, facts));
  await outbox.deliver(database.db, 500, async (tx, facts) => {
    for (const each of api.hearers) await each(tx, facts);
  });
}

it("of an intent is followed, though it is heard of while the intent is being confirmed", async () => {
  const seller = await newSeller();
  const { id } = (await seller.post("/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" } }))
    .body;
  const payment = paymentOf(seller.merchantId, { payableId: id, state: "included" });
  let heard = Promise.resolve();
  duringConfirm = async () => {
    payments = [payment];
    heard = hear("settlement.credited", payment);
    await until(async () => {
      const waiting = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE '%from "payment_intent"%for update%'`,
      );
      return waiting.length > 0;
    }, "who hears of it waits for the intent");
  };
  expect((await seller.post(`/v1/payment-intents/${id}/confirm`)).status).toBe(200);
  await heard;
  await look();
  expect(await seller.get(`/v1/payments/${id}`)).toMatchObject({
    paymentIntent: { status: "completed", executionPath: "x402" },
    clearing: { state: "settled", providerReference: payment.id, netAmount: { amount: "9.950000" } },
  });
});

it("is not led by what a look was told before another one led it", async () => {
  const seller = await newSeller();
  const { id } = (await seller.post("/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" } }))
    .body;
  const payment = paymentOf(seller.merchantId, { payableId: id, state: "included" });
  payments = [payment];
  await hear("settlement.credited", payment);
  await look();
  await hear("settlement.reversed", payment);
  // given a look that was told of the credit, while another one has seen that its block left the chain
  whileAsked = async () => {
    payments = [{ ...payment, state: "submitting" }];
    await look();
  };
  await look();
  const { clearing } = await seller.get(`/v1/payments/${id}`);
  expect(clearing.state).toBe("reversed");
  const told = () =>
    database.query("SELECT type FROM outbox WHERE subject = $1 AND type = 'payment.completed'", [
      clearing.id,
    ]);
  expect(await told()).toHaveLength(1);
  // until it is credited anew
  payments = [{ ...payment, creditEpoch: 1 }];
  await hear("settlement.credited", payment);
  await look();
  expect((await seller.get(`/v1/payments/${id}`)).clearing.state).toBe("settled");
  expect(await told()).toHaveLength(2);
});

it("of a resource that waits for the operator is not its merchant's to decide about", async () => {
  const seller = await newSeller();
  payments = [paymentOf(seller.merchantId, { payableId: resourceId, state: "review" })];
  for (const payment of payments) await hear("settlement.review", payment);
  const [recorded] = await seller.get("/v1/payments");
  expect(recorded).toMatchObject({
    paymentIntent: { status: "clearing" },
    clearing: { state: "in-review", providerReference: payments[0]?.id },
  });
  expect(await seller.get("/v1/payments?reviewRequired=true")).toEqual([]);
  expect(
    await seller.post(`/v1/payments/${recorded.paymentIntent.id}/review`, { action: "accept" }),
  ).toMatchObject({ status: 409, body: { code: "review_by_operator" } });
});

it("of resources is written as each one stands, once: what is under way waits for its next fact", async () => {
  const seller = await newSeller();
  const of = (state: PaymentView["state"], creditEpoch = 0) => ({
    ...paymentOf(seller.merchantId, { payableId: resourceId, state }),
    creditEpoch,
  });
  const [paid, paidAnew, expired] = [of("included"), of("included", 1), of("expired")];
  const underWay = [of("claimed"), of("submitting")];
  payments = [paid, paidAnew, expired, ...underWay];
  await hear("settlement.reversed", ...payments);
  const written = async () => {
    const list: readonly Body[] = await seller.get("/v1/payments");
    return Object.fromEntries(
      list.map(({ paymentIntent: { status, completedAt }, clearing }) => [
        clearing.providerReference,
        [clearing.state, status, completedAt !== null],
      ]),
    );
  };
  const settled = ["settled", "completed", true];
  const isOver = { [paid.id]: settled, [paidAnew.id]: settled, [expired.id]: ["failed", "failed", false] };
  expect(await written()).toEqual(isOver);
  payments = payments.map((payment) => ({ ...payment, state: payment === expired ? "expired" : "included" }));
  await hear("settlement.credited", ...payments);
  await look();
  const rest = Object.fromEntries(underWay.map(({ id }) => [id, settled]));
  expect(await written()).toEqual({ ...isOver, ...rest });
  // none of them was credited twice
  expect(
    await database.query("SELECT 1 FROM timeline_entry WHERE state = 'reversed' AND merchant_id = $1", [
      seller.merchantId,
    ]),
  ).toEqual([]);
});

it("of a link is written in the coin where that is no whole cents of its price", async () => {
  const seller = await newSeller();
  const link = await seller.post("/v1/payment-links", {
    ...{ kind: "fixed", title: "Tea", amount: { amount: "10", asset: "USD" } },
  });
  const [whole, odd] = [10_000_000n, 10_000_001n].map((amount) => ({
    ...paymentOf(seller.merchantId, { payableId: link.body.id, state: "included" }),
    amount,
  }));
  if (!whole || !odd) throw new Error("two payments");
  payments = [whole, odd];
  await hear("settlement.credited", whole, odd);
  const list: readonly Body[] = await seller.get("/v1/payments");
  expect(list.map(({ paymentIntent: { amount } }) => amount.formatted).sort()).toEqual([
    "10.00 USD",
    "10.000001 USDC",
  ]);
});

it("of a link names the seller as the link does", async () => {
  const seller = await newSeller();
  const merchant = { name: "Corner Shop", city: "Porto", countryCode: "PT" };
  const { body: link } = await seller.post("/v1/payment-links", {
    ...{ kind: "fixed", merchant, amount: { amount: "10", asset: "USD" } },
  });
  payments = [paymentOf(seller.merchantId, { payableId: link.id, state: "included" })];
  await hear("settlement.credited", ...payments);
  const { body: byPerson } = await seller.post(`/v1/payment-links/${link.id}/checkout`);
  const [, byAgent] = await seller.get("/v1/payments");
  expect(byAgent.paymentIntent).toMatchObject({ status: "completed", merchant: link.merchant });
  expect(byPerson.merchant).toEqual(link.merchant);
});

it("of an invoice names the seller as on the day it was issued", async () => {
  const seller = await newSeller();
  const { body: bill } = await seller.post("/v1/invoices", {
    ...{ buyer: { name: "Ada" }, currency: "USD", issue: true },
    lines: [{ name: "Tea", unitPrice: { amount: "10", asset: "USD" }, quantity: 1 }],
  });
  await database.query("UPDATE merchant SET name = 'Moved On' WHERE id = $1", [seller.merchantId]);
  payments = [paymentOf(seller.merchantId, { payableId: bill.id, state: "included" })];
  await hear("settlement.credited", ...payments);
  const [{ paymentIntent }] = await seller.get("/v1/payments");
  expect(paymentIntent.source).toBe("invoice");
  expect(bill.merchant).toMatchObject(paymentIntent.merchant);
});

it("is not yet followed where it is told while somebody asks whether it is", async () => {
  const seller = await newSeller();
  const { id } = (await seller.post("/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" } }))
    .body;
  await seller.post(`/v1/payment-intents/${id}/confirm`);
  const payment = paymentOf(seller.merchantId, { payableId: id, state: "included" });
  payments = [payment];
  const { pool } = database.db;
  const meanwhile = new Proxy(pool, {
    get: (target, name: keyof Executor) =>
      name === "execute"
        ? async (query: Parameters<Executor["execute"]>[0]) => {
            // a clock of whole milliseconds moves on
            await new Promise((resolve) => setTimeout(resolve, 5));
            await hear("settlement.credited", payment);
            return target.execute(query);
          }
        : target[name],
  });
  const { now } = systemClock;
  expect(await areCaughtUp(meanwhile, seller.merchantId, now)).toBe(false);
  await look();
  // what is made known of it is told as well
  expect(await areCaughtUp(pool, seller.merchantId, now)).toBe(false);
  await outbox.deliver(database.db, 500, async () => {});
  expect(await areCaughtUp(pool, seller.merchantId, now)).toBe(true);
});
