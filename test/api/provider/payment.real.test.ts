/** Payments at the sandbox provider, whole: the service, the provider as a process of its own, signed callbacks between. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sandboxAccess } from "#api";
import { balances, differences, transfers } from "../../facilitator/ledger/rows.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type DevChain, masterSecret, startDevChain } from "../../support/dev-chain.ts";
import {
  type Answer,
  type Merchant,
  newMerchant,
  type RunningHouse,
  startHouse,
  until,
} from "../../support/house.ts";

const asset = "USDC@sandbox";
const [held, clearingAccount] = ["asset:provider:sandbox", "liability:clearing"];

const database = sharedDatabase();
let dev: DevChain;
let house: RunningHouse;
let merchant: Merchant;
beforeAll(async () => {
  dev = await startDevChain();
  house = await startHouse(dev, database, { withSandbox: true });
  merchant = await newMerchant(house, 50);
});
afterAll(async () => {
  await house.stop();
  await dev.stop();
});
afterEach(async () => expect(await differences(database)).toEqual({}));

type Called = Pick<Answer, "status" | "body">;
let count = 0;
async function call(method: string, path: string, body?: unknown): Promise<Called> {
  const headers = { "Idempotency-Key": `provider-${++count}` };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await merchant.call(path, init);
  return { status: response.status, body: await response.json() };
}

/** An intent of 50 dollars that the sandbox provider clears, confirmed. */
async function confirmed(over: Record<string, unknown> = {}): Promise<{ pi: string; clr: string }> {
  const made = await call("POST", "/v1/payment-intents", {
    amount: { amount: "50", asset: "USD" },
    provider: "sandbox",
    ...over,
  });
  expect([made.status, made.body.code]).toEqual([201, undefined]);
  const begun = await call("POST", `/v1/payment-intents/${made.body.id}/confirm`);
  expect([begun.status, begun.body.code]).toEqual([200, undefined]);
  return { pi: made.body.id, clr: begun.body.clearing.id };
}
const read = async ({ pi }: { pi: string }) => (await call("GET", `/v1/payments/${pi}`)).body;
const stateOf = async (payment: { pi: string }) => (await read(payment)).clearing.state;
const untilState = (payment: { pi: string }, state: string) =>
  until(async () => (await stateOf(payment)) === state, `the clearing is ${state}`);
const untilAsked = (payment: { pi: string }) =>
  until(async () => (await read(payment)).clearing.providerReference !== null, "the provider was asked");
const pay = (payment: { pi: string }) => call("POST", "/v1/test/deposits", { paymentId: payment.pi });
const rowsOf = async ({ clr }: { clr: string }) =>
  (await transfers(database))
    .filter(({ subject }) => subject === clr)
    .map(({ code, phase, debit, credit, amount, asset: of }) => [
      code,
      phase,
      `${debit} → ${credit}`,
      amount,
      of,
    ]);
const factsOf = async ({ clr }: { clr: string }) =>
  (
    await database.query<{ type: string }>(`SELECT type FROM outbox WHERE subject = '${clr}' ORDER BY id`)
  ).map(({ type }) => type);

describe("a payment that the sandbox provider clears", () => {
  it("is asked for outside of the request, paid, settled and in the books of its own asset", async () => {
    const before = await balances(database);
    const payment = await confirmed();
    expect(await read(payment)).toMatchObject({
      paymentIntent: {
        status: "clearing",
        provider: "sandbox",
        payment: { chain: "sandbox", asset: "USDC" },
      },
      clearing: {
        state: "awaiting-funds",
        provider: "sandbox",
        sourceAmount: { amount: "50.000000", asset: "USDC" },
      },
      deposit: null,
    });
    await untilAsked(payment);
    expect(await rowsOf(payment)).toEqual([]);
    const paid = await pay(payment);
    expect([paid.status, paid.body]).toEqual([
      200,
      {
        paymentId: payment.pi,
        amount: expect.objectContaining({ amount: "50.000000", asset: "USDC" }),
        delay: 0,
        transactionHash: null,
      },
    ]);
    await untilState(payment, "settled");

    const after = await read(payment);
    expect(after).toMatchObject({
      paymentIntent: { status: "completed", completedAt: expect.any(String), failureReason: null },
      clearing: {
        providerReference: expect.stringMatching(/^sbx_/),
        transactionHash: null,
        settlementAmount: { amount: "50.000000" },
        fee: { amount: "0.250000" },
        netAmount: { amount: "49.750000" },
        failure: null,
      },
    });
    const states = after.timeline.map(({ state }: { state: string }) => state);
    expect(states.filter((state: string, i: number) => state !== states[i - 1])).toEqual([
      ...["created", "awaiting-funds", "funds-detected", "funds-received", "settling", "settled"],
    ]);
    expect(await factsOf(payment)).toEqual(
      expect.arrayContaining([
        "payment.clearing",
        "payment.funds_detected",
        "payment.funds_received",
        "payment.completed",
      ]),
    );
    const available = `liability:merchant:${merchant.id}:available`;
    expect(await rowsOf(payment)).toEqual([
      ["provider-received", "single", `${held} → ${clearingAccount}`, "50000000", asset],
      ["clearing-settled", "pending", `${clearingAccount} → ${available}`, "49750000", asset],
      ["clearing-settled", "pending", `${clearingAccount} → income:fees`, "250000", asset],
      ["clearing-settled", "post", `${clearingAccount} → ${available}`, "49750000", asset],
      ["clearing-settled", "post", `${clearingAccount} → income:fees`, "250000", asset],
    ]);
    const now = await balances(database);
    const change = (path: string) => (now[path]?.[0] ?? 0n) - (before[path]?.[0] ?? 0n);
    expect([change(held), change(clearingAccount)]).toEqual([50_000_000n, 0n]);
    expect(Object.keys(now).filter((path) => /^asset:(deposit|treasury)/.test(path))).toEqual([]);
    expect((await call("GET", "/v1/balances")).body).toEqual([
      expect.objectContaining({
        asset: "USDC",
        chain: "sandbox",
        available: expect.objectContaining({ amount: "49.750000" }),
        pending: expect.objectContaining({ amount: "0.000000" }),
      }),
    ]);
    await until(
      async () =>
        (await database.query("SELECT 1 FROM provider_event WHERE handled_at IS NULL")).length === 0,
      "every callback is handled",
    );
    await until(
      async () =>
        (await database.query("SELECT 1 FROM provider_order WHERE due_at IS NOT NULL")).length === 0,
      "nothing is due any more",
    );
  });

  it("fails with provider_error when the provider refuses the payer, and books nothing", async () => {
    const payment = await confirmed({ metadata: { "sandbox.outcome": "declined" } });
    await untilState(payment, "failed");
    expect(await read(payment)).toMatchObject({
      paymentIntent: { status: "failed", failureReason: "provider_error" },
      clearing: { failure: { code: "provider_error", reason: expect.stringContaining("declined") } },
    });
    expect(await rowsOf(payment)).toEqual([]);
    // no money ever was: there is nothing to try again
    expect(await call("POST", `/v1/payments/${payment.pi}/retry`)).toMatchObject({
      status: 409,
      body: { code: "funds_not_received" },
    });
    expect(await stateOf(payment)).toBe("failed");
  });

  it("is refunded through the provider, with our fee's share, and the books say so", async () => {
    const payment = await confirmed({ metadata: { "sandbox.outcome": "paid" } });
    await untilState(payment, "settled");
    const before = await balances(database);
    const made = await call("POST", `/v1/payments/${payment.pi}/refunds`, {
      amount: { amount: "20", asset: "USDC" },
    });
    expect([made.status, made.body.state]).toEqual([201, "pending"]);
    const read = async () => (await call("GET", `/v1/refunds/${made.body.id}`)).body;
    await until(async () => (await read()).state === "succeeded", "the refund has gone");
    expect(await read()).toMatchObject({
      amount: { amount: "20.000000", asset: "USDC" },
      providerReference: expect.stringMatching(/^sbr_/),
    });
    const [available, reserved] = ["available", "reserved"].map(
      (part) => `liability:merchant:${merchant.id}:${part}`,
    );
    expect(await rowsOf({ clr: made.body.id })).toEqual([
      ["refund-created", "single", `${available} → ${reserved}`, "19900000", asset],
      ["refund-created", "single", `income:fees → ${reserved}`, "100000", asset],
      ["provider-refunded", "single", `${reserved} → ${held}`, "20000000", asset],
    ]);
    const now = await balances(database);
    expect((before[held]?.[0] ?? 0n) - (now[held]?.[0] ?? 0n)).toBe(20_000_000n);
    expect(now[reserved ?? ""]).toEqual([0n, 0n]);
  });

  it("keeps the payer's money in the clearing when the provider fails to settle it, until a retry", async () => {
    const payment = await confirmed({ metadata: { "sandbox.outcome": "not-settled" } });
    await untilAsked(payment);
    await pay(payment);
    await untilState(payment, "failed");
    expect((await read(payment)).clearing.failure.code).toBe("provider_error");
    expect((await rowsOf(payment)).map(([code]) => code)).toEqual(["provider-received"]);
    expect((await call("POST", `/v1/payments/${payment.pi}/retry`)).status).toBe(200);
    await untilState(payment, "settled");
    const posted = (await rowsOf(payment)).filter(([, phase]) => phase !== "pending").map(([code]) => code);
    expect(posted).toEqual(["provider-received", "clearing-settled", "clearing-settled"]);
  });

  it("is closed at the provider when it is cancelled: nobody can pay it any more", async () => {
    const payment = await confirmed();
    await untilAsked(payment);
    const cancelled = await call("POST", `/v1/payment-intents/${payment.pi}/cancel`);
    expect(cancelled.body.status).toBe("cancelled");
    await until(async () => (await pay(payment)).status === 422, "the provider takes it no more");
    expect(await stateOf(payment)).toBe("cancelled");
  });

  it("expires by the merchants' clock, once the provider says that nothing came", async () => {
    const payment = await confirmed();
    await untilAsked(payment);
    await call("POST", "/v1/test/advance-clock", { seconds: 40 * 60 });
    await untilState(payment, "expired");
    await until(async () => (await pay(payment)).status === 422, "the provider takes it no more");
    expect(await rowsOf(payment)).toEqual([]);
  });

  it("believes the provider, not its callbacks: a well signed lie moves nothing", async () => {
    const payment = await confirmed();
    await untilAsked(payment);
    const { providerReference } = (await read(payment)).clearing;
    const { Webhook } = await import("standardwebhooks");
    const body = JSON.stringify({
      type: "clearing.updated",
      data: { id: providerReference, state: "settled" },
    });
    const at = new Date();
    const headers = {
      "webhook-id": "sbe_lie",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(sandboxAccess(masterSecret).webhookSecret).sign("sbe_lie", at, body),
    };
    const answer = await fetch(`${house.baseUrl}/v1/provider-webhooks/sandbox`, {
      method: "POST",
      body,
      headers,
    });
    expect(answer.status).toBe(200);
    await until(
      async () =>
        (
          await database.query(
            "SELECT 1 FROM provider_event WHERE event_id = 'sbe_lie' AND handled_at IS NOT NULL",
          )
        ).length === 1,
      "the callback is handled",
    );
    expect(await stateOf(payment)).toBe("awaiting-funds");
    expect(await rowsOf(payment)).toEqual([]);
  });

  it("keeps an event of something unknown in sight, with what is wrong with it", async () => {
    const { Webhook } = await import("standardwebhooks");
    const body = JSON.stringify({ type: "clearing.updated", data: { id: "sbx_nobody" } });
    const at = new Date();
    const headers = {
      "webhook-id": "sbe_stray",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(sandboxAccess(masterSecret).webhookSecret).sign("sbe_stray", at, body),
    };
    await fetch(`${house.baseUrl}/v1/provider-webhooks/sandbox`, { method: "POST", body, headers });
    const row = () =>
      database.query<{ attempts: number; failure: string | null; handled_at: Date | null }>(
        "SELECT attempts, failure, handled_at FROM provider_event WHERE event_id = 'sbe_stray'",
      );
    await until(async () => ((await row())[0]?.attempts ?? 0) > 0, "it was tried");
    expect((await row())[0]).toMatchObject({ failure: expect.stringContaining("known"), handled_at: null });
  });

  it("stays as the provider was asked for it when whoever holds its page chooses another way", async () => {
    const payment = await confirmed();
    await untilAsked(payment);
    // when its page is told another way
    const form = new URLSearchParams({ chain: "local", asset: "EURC", executionPath: "deposit-match" });
    const chosen = await fetch(`${house.baseUrl}/checkout/${payment.pi}/confirm`, {
      ...{ method: "POST", redirect: "manual", body: form },
      headers: { Origin: house.baseUrl },
    });
    expect(chosen.status).toBe(303);
    // and the payer pays what the provider asks for, which has looked meanwhile
    await database.query("UPDATE provider_order SET due_at = now()");
    await untilAsked(payment);
    expect((await pay(payment)).status).toBe(200);
    await until(async () => (await stateOf(payment)) === "settled", "it settles");
    const [order] = await database.query("SELECT attempts, failure FROM provider_order WHERE id = $1", [
      payment.clr,
    ]);
    expect(order).toEqual({ attempts: 0, failure: null });
    // then it is what was asked for that is paid
    expect((await rowsOf(payment))[0]).toEqual([
      ...["provider-received", "single"],
      ...["asset:provider:sandbox → liability:clearing", "50000000", "USDC@sandbox"],
    ]);
  });

  it("is due in the coin that its intent settles in, else in the one that was named", async () => {
    const dueIn = async (made: Record<string, unknown>, said: Record<string, unknown> = {}) => {
      const { body } = await call("POST", "/v1/payment-intents", {
        ...{ amount: { amount: "50", asset: "USD" }, provider: "sandbox", ...made },
      });
      const confirmed = await call("POST", `/v1/payment-intents/${body.id}/confirm`, { payment: said });
      return confirmed.body.clearing.sourceAmount.asset;
    };
    expect(await dueIn({ payment: { asset: "USDG" } })).toBe("USDG");
    expect(await dueIn({ settlementAsset: "USDG" }, { asset: "USDC" })).toBe("USDG");
  });

  it("is refused in what is no coin, as it is made and as it is confirmed: no rate would ever come", async () => {
    const payment = { asset: "DOGE" };
    const asked = { amount: { amount: "50", asset: "USD" }, provider: "sandbox" };
    const made = await call("POST", "/v1/payment-intents", asked);
    for (const { status, body } of [
      await call("POST", "/v1/payment-intents", { ...asked, payment }),
      await call("POST", `/v1/payment-intents/${made.body.id}/confirm`, { payment }),
    ])
      expect([status, body.code, body.errors?.[0].pointer]).toEqual([
        ...[422, "rail_unsupported", "/payment/asset"],
      ]);
  });
});

describe("a clock that was moved", () => {
  it("ends what agents are offered as well, at once", async () => {
    const move = async (seconds: number) =>
      (await call("POST", "/v1/test/advance-clock", { seconds })).body.now as string;
    const soon = new Date(Date.parse(await move(1)) + 300_000).toISOString();
    const amount = { amount: "1", asset: "USD" };
    const link = await call("POST", "/v1/payment-links", { kind: "fixed", amount, expiresAt: soon });
    const intent = await call("POST", "/v1/payment-intents", { amount, expiresInSeconds: 300 });
    const listed = await call("POST", `/v1/payment-links/${link.body.id}/list`);
    expect([link.status, intent.status, listed.status]).toEqual([201, 201, 200]);
    const asked = async ({ body }: Called) =>
      (await fetch(`${house.baseUrl}/x402/payables/${body.id}`)).status;
    const found = async () => {
      const index = await fetch(`${house.baseUrl}/x402/payables`);
      return ((await index.json()) as { items: unknown[] }).items.length;
    };
    expect([await asked(link), await asked(intent), await found()]).toEqual([402, 402, 1]);
    await move(301);
    expect([await asked(link), await asked(intent), await found()]).toEqual([410, 410, 0]);
  });
});

describe("elsewhere", () => {
  it("a deployment without the provider refuses such an intent", async () => {
    const other = await startHouse(dev, database);
    try {
      const response = await fetch(`${other.baseUrl}/v1/payment-intents`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${merchant.secretKey}`,
          "Content-Type": "application/json",
          "Idempotency-Key": "elsewhere",
        },
        body: JSON.stringify({ amount: { amount: "50", asset: "USD" }, provider: "sandbox" }),
      });
      expect([response.status, ((await response.json()) as { code?: string }).code]).toEqual([
        422,
        "rail_unsupported",
      ]);
    } finally {
      await other.stop();
    }
  });
});
