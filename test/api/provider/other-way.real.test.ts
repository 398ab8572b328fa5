/** A payment that an outside provider was asked for, and whoever holds its page chooses another way. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { differences, transfers } from "../../facilitator/ledger/rows.ts";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { type DevChain, startDevChain } from "../../support/dev-chain.ts";
import { type Answer, newMerchant, type RunningHouse, startHouse, until } from "../../support/house.ts";

let dev: DevChain;
let database: TestDatabase;
let house: RunningHouse;
let merchant: Awaited<ReturnType<typeof newMerchant>>;
beforeAll(async () => {
  dev = await startDevChain();
  database = await freshDatabase();
  house = await startHouse(dev, database, { withSandbox: true });
  merchant = await newMerchant(house, 50);
});
afterAll(async () => {
  await house.stop();
  await database.drop();
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

it("stays as the provider was asked for it, and settles", async () => {
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
  const [order] = await database.query("SELECT reference, attempts, failure FROM provider_order");
  expect(order).toMatchObject({ attempts: 0, failure: null });
  // then it is what was asked for that is paid
  expect((await rowsOf(payment))[0]).toEqual([
    ...["provider-received", "single"],
    ...["asset:provider:sandbox → liability:clearing", "50000000", "USDC@sandbox"],
  ]);
}, 60_000);
