/** What merchants do with payments before any money comes, and what they must not. */
import { describe, expect, it } from "vitest";
import { fixedRates, type Rates } from "#api";
import { choose, switchRail } from "../../../api/clearing/verbs/confirm.ts";
import { findIntent } from "../../../api/payment-intent/verbs/read.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { rowOf, sharedWorld, startWorld, until } from "../../support/house.ts";
import {
  heldBack,
  isIntentAwaited,
  movableClock,
  newSeller,
  sendTo,
  sharedSeller,
  statesOf,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

const idOf = (position: { paymentIntent: { id: string } }) => position.paymentIntent.id;
const count = async (table: string, id: string) => {
  const [row] = await world.database.query<{ count: string }>(
    `SELECT count(*) FROM ${table} WHERE ${table === "clearing" ? "intent_id" : "clearing_id"} = $1`,
    [id],
  );
  return Number(row?.count);
};

/** Dust has come, and is in the books as such. */
const isIgnored = (id: string) =>
  until(async () => (await seller.read(id)).deposit.deposits[0]?.status === "ignored", "it is ignored");

describe("POST /v1/payment-intents/{id}/confirm", () => {
  it("200 twice: the second answers where it stands and starts no second clearing", async () => {
    const { id } = await seller.intent();
    const first = await seller.confirm(id);
    const again = await seller.confirm(id);
    expect(again).toEqual(first);
    expect(await count("clearing", id)).toBe(1);
    expect(await count("clearing_order", first.clearing.id)).toBe(1);
    expect(await toldOf(world.database, first.clearing.id)).toEqual(["payment.clearing"]);
    await sendTo(world, first.deposit.address, 10_000_000n);
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject(await seller.confirm(id));
  });

  it("50 at once with different keys: one clearing, one order, one address", async () => {
    const { id } = await seller.intent();
    // On a busy machine some wait too long for a connection: they are told so, and ask again.
    const confirm = async (): ReturnType<typeof seller.ask> => {
      const answer = await seller.ask("POST", `/v1/payment-intents/${id}/confirm`);
      return answer.status === 503 ? confirm() : answer;
    };
    const all = await Promise.all(Array.from({ length: 50 }, confirm));
    expect(new Set(all.map(({ status, body }) => `${status} ${body.deposit?.address}`)).size).toBe(1);
    expect(all[0]?.status).toBe(200);
    expect(await count("clearing", id)).toBe(1);
    expect(await count("clearing_order", all[0]?.body.clearing.id)).toBe(1);
  });

  it("takes an empty body that is called JSON, no body, and one that chooses", async () => {
    const [a, b, c] = [await seller.intent(), await seller.intent(), await seller.intent()];
    const bare = await fetch(`${world.baseUrl}/v1/payment-intents/${a.id}/confirm`, {
      method: "POST",
      headers: { Authorization: `Bearer ${seller.secretKey}`, "Idempotency-Key": "bare" },
    });
    expect(bare.status).toBe(200);
    expect(await seller.ask("POST", `/v1/payment-intents/${b.id}/confirm`)).toMatchObject({ status: 200 });
    const chosen = await seller.confirm(c.id, {
      executionPath: "on-chain-contract",
      payment: {
        asset: "USDG",
        chain: "eip155:31337",
        payerAddress: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
      },
    });
    expect(chosen).toMatchObject({
      paymentIntent: {
        executionPath: "on-chain-contract",
        settlementAsset: "USDG",
        payment: {
          asset: "USDG",
          chain: "local",
          payerAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        },
      },
      deposit: { asset: "USDG", uri: null },
    });
    expect(chosen.deposit.address.toLowerCase()).toBe(rowOf(world.dev).router);
    // to the second that the order was signed for
    const { order } = await seller.must("GET", `/checkout/${c.id}/order`);
    expect(Date.parse(chosen.paymentIntent.expiresAt)).toBe(order.deadline * 1_000);
  });

  it("settles in the asset that the intent was made for, whatever a confirm asks", async () => {
    const { id } = await seller.intent({ settlementAsset: "USDG" });
    const refused = await seller.ask("POST", `/v1/payment-intents/${id}/confirm`, {
      payment: { asset: "USDC" },
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "rail_unsupported", errors: [{ pointer: "/payment/asset" }] },
    });
    expect((await seller.confirm(id)).clearing.sourceAmount.asset).toBe("USDG");
  });

  it("is paid as a confirm says, and what that leaves open as its intent was made", async () => {
    const [amount, payment] = [
      { amount: "10", asset: "EUR" },
      { asset: "USDG", chain: "local" },
    ];
    const paidIn = async (made: Record<string, unknown>, said?: unknown) =>
      (await seller.confirm((await seller.intent(made)).id, said)).deposit.asset;
    expect(await paidIn({ payment })).toBe("USDG");
    expect(await paidIn({ payment }, { payment: { asset: "USDC" } })).toBe("USDC");
    // a chain without an asset is its default one
    expect(await paidIn({ amount })).toBe("EURC");
    expect(await paidIn({ amount, payment: { chain: "local" } })).toBe("USDC");
    // and at a rate its agents with it
    const pounds = await seller.intent({ amount: { amount: "8", asset: "GBP" } });
    const { clearing } = await seller.confirm(pounds.id, { payment: { asset: "EURC" } });
    const visit = await fetch(`${world.baseUrl}/x402/payables/${pounds.id}`);
    const [option, ...others] = JSON.parse(atob(visit.headers.get("PAYMENT-REQUIRED") ?? "")).accepts;
    const { EURC } = world.dev.contracts.assets;
    expect([option.asset, BigInt(option.amount), others]).toEqual([
      ...[EURC, BigInt(clearing.sourceAmount.amount.replace(".", "")), []],
    ]);
    const { id } = await seller.intent({ payment });
    expect(
      await seller.ask("POST", `/v1/payment-intents/${id}/confirm`, { payment: { chain: "base" } }),
    ).toMatchObject({ status: 422, body: { errors: [{ pointer: "/payment/chain" }] } });
  });

  it("gives the window that was asked for, within what the rate allows", async () => {
    const minutes = async (body: Record<string, unknown>) => {
      const asked = await seller.asked(body);
      const ms = Date.parse(asked.paymentIntent.expiresAt) - Date.parse(asked.paymentIntent.confirmedAt);
      return Math.round(ms / MINUTE);
    };
    const pounds = { amount: { amount: "10", asset: "GBP" } };
    expect(await minutes({})).toBe(30);
    expect(await minutes({ expiresInSeconds: 7_200 })).toBe(120);
    expect(await minutes({ expiresInSeconds: 2_592_000 })).toBe(24 * 60);
    expect(await minutes(pounds)).toBe(15);
    expect(await minutes({ ...pounds, expiresInSeconds: 7_200 })).toBe(60);
    // for agents one to one the intent's own time, since no rate ends it
    const executionPath = "x402";
    expect(await minutes({ executionPath })).toBe(60);
    expect(await minutes({ executionPath, amount: { amount: "10", asset: "USDC" } })).toBe(60);
    expect(await minutes({ executionPath, ...pounds })).toBe(15);
  });

  it("424 rate_unavailable when nobody gives a price: nothing is begun", async () => {
    const steady = fixedRates({ clock, log: silentLog });
    const priced = { rates: { rate: async () => ({ ok: false, reason: "no_fresh_rate" }) } as Rates };
    const own = await startWorld({ clock, rates: { rate: (pair) => priced.rates.rate(pair) } });
    try {
      const poor = await newSeller(own);
      const { id } = await poor.intent({ amount: { amount: "10", asset: "GBP" } });
      const answer = await poor.ask("POST", `/v1/payment-intents/${id}/confirm`);
      expect(answer).toMatchObject({ status: 424, body: { code: "rate_unavailable" } });
      expect(await poor.read(id)).toMatchObject({
        paymentIntent: { status: "created" },
        clearing: null,
        deposit: null,
        timeline: [],
      });
      const visit = async () => (await fetch(`${own.baseUrl}/x402/payables/${id}`)).status;
      expect(await visit()).toBe(404);
      // with a price agents are offered it too
      priced.rates = steady;
      await poor.confirm(id);
      expect(await visit()).toBe(402);
    } finally {
      await own.stop();
    }
  });

  it("410 intent_expired when its time is over, told or not; 409 intent_not_confirmable when it was cancelled", async () => {
    const { id } = await seller.intent({ expiresInSeconds: 300 });
    clock.forward(6 * MINUTE);
    expect(await seller.ask("POST", `/v1/payment-intents/${id}/confirm`)).toMatchObject({
      status: 410,
      body: { code: "intent_expired" },
    });
    await until(async () => (await seller.read(id)).paymentIntent.status === "expired", "it is swept");
    expect(await toldOf(world.database, id)).toEqual(["payment.created", "payment.expired"]);
    expect(await seller.ask("POST", `/v1/payment-intents/${id}/confirm`)).toMatchObject({ status: 410 });
    const other = await seller.intent();
    await seller.cancel(other.id);
    expect(await seller.ask("POST", `/v1/payment-intents/${other.id}/confirm`)).toMatchObject({
      status: 409,
      body: { code: "intent_not_confirmable" },
    });
  });

  it("404 for another merchant's, by either id and on every route; nothing changes", async () => {
    const asked = await seller.asked();
    const stranger = await newSeller(world);
    const before = await seller.read(idOf(asked));
    const paths = [asked.paymentIntent.id, asked.clearing.id].flatMap((id) => [
      ["GET", `/v1/payments/${id}`] as const,
      ["POST", `/v1/payments/${id}/retry`] as const,
      ["POST", `/v1/payments/${id}/review`, { action: "accept" }] as const,
      ["POST", `/v1/payment-intents/${id}/confirm`] as const,
      ["POST", `/v1/payment-intents/${id}/cancel`] as const,
    ]);
    for (const [method, path, body] of paths)
      expect([path, await stranger.ask(method, path, body)]).toMatchObject([
        path,
        { status: 404, body: { code: "not_found" } },
      ]);
    expect(await stranger.must("GET", "/v1/payments")).toEqual([]);
    expect(await seller.read(idOf(asked))).toEqual(before);
  });
});

describe("POST /v1/payment-intents/{id}/cancel", () => {
  it("200: before and after confirm, again and again; its agents' URL is closed, its order watched on", async () => {
    const plain = await seller.intent();
    expect(await seller.cancel(plain.id)).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect(await seller.cancel(plain.id)).toMatchObject({ status: 200, body: { status: "cancelled" } });
    const asked = await seller.asked();
    expect(await seller.cancel(idOf(asked))).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect(await seller.read(idOf(asked))).toMatchObject({ clearing: { state: "cancelled" } });
    expect(await toldOf(world.database, plain.id)).toEqual(["payment.created", "payment.cancelled"]);
    for (const id of [plain.id, idOf(asked)]) {
      const visit = await fetch(`${world.baseUrl}/x402/payables/${id}`);
      expect([visit.status, await visit.json()]).toMatchObject([410, { state: "cancelled" }]);
    }
    // money that comes all the same is the merchant's to decide
    await sendTo(world, asked.deposit.address, 10_000_000n);
    await seller.reaches(idOf(asked), "in-review");
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 10000000",
    ]);
  });

  it("200 while only dust has come: nobody holds it up with that", async () => {
    const asked = await seller.asked();
    await sendTo(world, asked.deposit.address, 1n);
    await isIgnored(idOf(asked));
    const cancelled = await seller.cancel(idOf(asked));
    expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect(await seller.read(idOf(asked))).toMatchObject({
      clearing: { state: "cancelled" },
      deposit: { reviewRequired: false },
    });
    expect(await toldOf(world.database, asked.clearing.id)).toEqual([
      "payment.clearing",
      "payment.cancelled",
    ]);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 1",
    ]);
  });

  it("409 intent_not_cancellable once money was seen, and once it is paid", async () => {
    const asked = await seller.asked();
    await sendTo(world, asked.deposit.address, 1_000_000n);
    await seller.reaches(idOf(asked), "funds-detected");
    expect(await seller.cancel(idOf(asked))).toMatchObject({
      status: 409,
      body: { code: "intent_not_cancellable" },
    });
    await sendTo(world, asked.deposit.address, 9_000_000n);
    await seller.reaches(idOf(asked), "settled");
    expect(await seller.cancel(idOf(asked))).toMatchObject({ status: 409 });
  });
});

describe("POST /v1/payments/{id}/retry", () => {
  it("409 funds_not_received while money is missing, 409 payment_not_retryable where there is nothing to retry", async () => {
    const plain = await seller.intent();
    const asked = await seller.asked();
    const cancelled = await seller.asked();
    await seller.cancel(idOf(cancelled));
    for (const [id, code] of [
      [plain.id, "payment_not_retryable"],
      [idOf(asked), "funds_not_received"],
      [idOf(cancelled), "payment_not_retryable"],
    ])
      expect([id, await seller.retry(id)]).toMatchObject([id, { status: 409, body: { code } }]);
    clock.forward(32 * MINUTE);
    await seller.reaches(idOf(asked), "expired");
    expect(await seller.retry(idOf(asked))).toMatchObject({
      status: 409,
      body: { code: "funds_not_received" },
    });
  });
});

describe("another rail before any money came", () => {
  const newDesk = () => ({
    db: world.database.db,
    facilitator: world.house.facilitator,
    rates: fixedRates({ clock, log: silentLog }),
    baseUrl: world.baseUrl,
    isSandbox: true,
    isFull: async () => false,
    newId: world.house.newId,
    now: () => clock.now(),
    log: silentLog,
  });
  /** How its payer is sent another way: to another token of the same chain. */
  async function switching(id: string) {
    const intent = await findIntent(world.database.db.pool, seller.id, id);
    const chosen = await choose(newDesk(), intent, { payment: { asset: "USDG" } });
    return (over: { readonly now?: () => Date } = {}) =>
      world.database.db.tx((tx) =>
        switchRail(tx, { ...newDesk(), ...over }, { merchantId: seller.id, id, chosen }),
      );
  }

  it("is too late, and so is a cancel, once money is on the chain that nobody has looked at", async () => {
    const asked = await seller.asked();
    const id = idOf(asked);
    const switchIt = await switching(id);
    await heldBack(world, { merchantId: seller.id, id }, async (letGo) => {
      await sendTo(world, asked.deposit.address, 10_000_000n);
      const arrivals = () =>
        world.house.facilitator.deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
      await until(async () => (await arrivals()).length === 1, "it is seen");
      const switched = expect(switchIt()).rejects.toMatchObject({ code: "intent_not_confirmable" });
      await until(() => isIntentAwaited(world), "the switch waits for its turn");
      const cancelled = seller.cancel(id);
      await until(() => isIntentAwaited(world, 2), "the cancel waits for its turn too");
      letGo();
      await switched;
      expect(await cancelled).toMatchObject({ status: 409, body: { code: "intent_not_cancellable" } });
    });
    expect((await seller.reaches(id, "settled")).deposit.address).toBe(asked.deposit.address);
  });

  it("has an order of its own; what still reaches the order before is the merchant's to decide", async () => {
    const asked = await seller.asked();
    const id = idOf(asked);
    const switchIt = await switching(id);
    const late = switchIt({ now: () => new Date(asked.paymentIntent.expiresAt) });
    await expect(late).rejects.toMatchObject({ code: "intent_not_confirmable" });
    await sendTo(world, asked.deposit.address, 9_999n);
    await isIgnored(id);
    await switchIt();
    const moved = await seller.read(id);
    expect(moved).toMatchObject({
      clearing: { id: asked.clearing.id, state: "awaiting-funds" },
      deposit: { asset: "USDG" },
    });
    expect(moved.deposit.address).not.toBe(asked.deposit.address);
    expect(statesOf(moved)).toEqual(["created", "awaiting-funds", "(awaiting-funds)"]);
    await sendTo(world, asked.deposit.address, 10_000_000n);
    const held = await seller.reaches(id, "in-review");
    expect(held.deposit.reviewRequired).toBe(true);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 9999",
      "single unmatched deposit → unmatched 10000000",
    ]);
    // no rail is changed once money has come
    await expect(switchIt()).rejects.toMatchObject({ code: "intent_not_confirmable" });
    await world.dev.anvil.mine(3);
    await until(
      async () => (await seller.review(id, { action: "accept" })).status === 200,
      "it is final and accepted",
    );
    expect(await seller.read(id)).toMatchObject({
      paymentIntent: { status: "completed", settlementAsset: "USDC" },
      clearing: { providerReference: asked.clearing.providerReference, rate: { source: "parity" } },
      deposit: { address: asked.deposit.address, asset: "USDC" },
    });
  });
});
