/** The sandbox's own payer: what `POST /v1/test/deposits` sends arrives as any payer's money does. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { type DevChain, startDevChain } from "../../support/dev-chain.ts";
import {
  type Answer,
  type Merchant,
  newMerchant,
  type RunningHouse,
  startHouse,
  until,
} from "../../support/house.ts";
import { expectAtRest } from "../../support/scene.ts";

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

type Called = Pick<Answer, "status" | "body">;
let count = 0;
async function call(method: string, path: string, body?: unknown, by = merchant): Promise<Called> {
  const headers = { "Idempotency-Key": `deposit-${++count}` };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await by.call(path, init);
  return { status: response.status, body: await response.json() };
}
async function intent(over: Record<string, unknown> = {}): Promise<string> {
  const made = await call("POST", "/v1/payment-intents", { amount: { amount: "20", asset: "USD" }, ...over });
  expect([made.status, made.body.code]).toEqual([201, undefined]);
  return made.body.id;
}
async function confirmed(over: Record<string, unknown> = {}): Promise<string> {
  const id = await intent(over);
  const begun = await call("POST", `/v1/payment-intents/${id}/confirm`);
  expect([begun.status, begun.body.code]).toEqual([200, undefined]);
  return id;
}
const read = async (id: string) => (await call("GET", `/v1/payments/${id}`)).body;
const simulate = (paymentId: string, over: Record<string, unknown> = {}) =>
  call("POST", "/v1/test/deposits", { paymentId, ...over });
async function untilState(id: string, state: string): Promise<void> {
  await until(async () => {
    await dev.anvil.mine();
    return (await read(id)).clearing.state === state;
  }, `the clearing is ${state}`);
}
const refusal = ({ status, body }: Awaited<ReturnType<typeof simulate>>) => [status, body.code];

describe("POST /v1/test/deposits", () => {
  it("sends what is missing to the address of the order, as a payer would", async () => {
    const id = await confirmed();
    const sent = await simulate(id);
    expect([sent.status, sent.body]).toEqual([
      200,
      {
        paymentId: id,
        amount: expect.objectContaining({ amount: "20.000000", asset: "USDC" }),
        delay: 0,
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    ]);
    await untilState(id, "settled");
    const { deposit } = await read(id);
    expect(deposit.deposits).toEqual([
      expect.objectContaining({
        txHash: sent.body.transactionHash,
        amount: expect.objectContaining({ amount: "20.000000" }),
      }),
    ]);
  });

  it("sends less, and then the rest, by the clearing's id as well", async () => {
    const id = await confirmed();
    await simulate(id, { amount: { amount: "5", asset: "USDC" } });
    await untilState(id, "funds-detected");
    const { clearing } = await read(id);
    expect((await simulate(clearing.id)).body.amount.amount).toBe("15.000000");
    await untilState(id, "settled");
  });

  it("sends another token, too: a mistake that payers make", async () => {
    const id = await confirmed();
    const sent = await simulate(id, { amount: { amount: "20", asset: "EURC" } });
    expect(sent.status).toBe(200);
    await untilState(id, "in-review");
  });

  it("sends later, when it is told to", async () => {
    const id = await confirmed();
    const sent = await simulate(id, { delay: 1 });
    expect([sent.status, sent.body.transactionHash]).toEqual([200, null]);
    expect((await read(id)).clearing.state).toBe("awaiting-funds");
    await untilState(id, "settled");
  });

  it("calls the router where the order is for it, with exactly its amount", async () => {
    const id = await confirmed({ executionPath: "on-chain-contract" });
    const amount = { amount: "19", asset: "USDC" };
    expect(refusal(await simulate(id, { amount }))).toEqual([422, "simulation_impossible"]);
    expect((await simulate(id)).status).toBe(200);
    await untilState(id, "settled");
  });

  it("refuses what nobody could pay", async () => {
    const unconfirmed = await intent();
    const byAgents = await confirmed({ executionPath: "x402" });
    for (const id of [unconfirmed, byAgents])
      expect(refusal(await simulate(id))).toEqual([422, "simulation_impossible"]);
    const id = await confirmed();
    const amount = { amount: "1", asset: "USD" };
    expect(refusal(await simulate(id, { amount }))).toEqual([422, "simulation_impossible"]);
    expect(refusal(await simulate(id, { delay: 601 }))).toEqual([400, "validation_failed"]);
  });

  it("does not find another merchant's payment", async () => {
    const id = await confirmed();
    const stranger = await newMerchant(house);
    const answer = await call("POST", "/v1/test/deposits", { paymentId: id }, stranger);
    expect(refusal(answer)).toEqual([404, "not_found"]);
    expect(refusal(await simulate("pi_nonsense"))).toEqual([404, "not_found"]);
  });
});

/** How many blocks leave the chain with it: on a busy machine it need not be in the newest. */
async function depthOfLastDeposit(): Promise<number> {
  const [row] = await database.query<{ block: number }>(
    "SELECT max(block_number)::int AS block FROM chain_transfer WHERE canonical AND order_id IS NOT NULL",
  );
  if (!row) throw new Error("a deposit was seen");
  return (await dev.chain.head()).number - row.block + 1;
}

describe("POST /v1/test/reorg", () => {
  it("takes a deposit away that was not final: the payment is reversed, and paid again settles again", async () => {
    await expectAtRest({ dev, database, baseUrl: house.baseUrl }); // or a sweep would come above it
    const id = await confirmed();
    await simulate(id);
    await until(async () => (await read(id)).clearing.state === "settled", "settled");
    const depth = await depthOfLastDeposit();
    const { status, body } = await call("POST", "/v1/test/reorg", { depth });
    expect([status, body]).toEqual([200, { depth }]);
    await untilState(id, "reversed");
    await simulate(id);
    await untilState(id, "settled");
  });

  it("leaves alone what is final", async () => {
    const answer = await call("POST", "/v1/test/reorg", { depth: 64 });
    expect(refusal(answer)).toEqual([422, "simulation_impossible"]);
  });
});

/** Last: nothing that follows has a chain. */
describe("a sandbox whose chain does not answer", () => {
  it("is an outage to a merchant, and to a payer a page that says so; the payment waits as before", async () => {
    const id = await confirmed();
    await dev.stop();
    expect(refusal(await simulate(id))).toEqual([424, "chain_unavailable"]);
    expect(refusal(await call("POST", "/v1/test/reorg", { depth: 1 }))).toEqual([424, "chain_unavailable"]);
    const pressed = await fetch(`${house.baseUrl}/checkout/${id}/test-payment`, {
      method: "POST",
      redirect: "manual",
    });
    expect([pressed.status, pressed.headers.get("location")]).toEqual([
      303,
      `/checkout/${id}?problem=testPayFailed`,
    ]);
    expect((await read(id)).clearing.state).toBe("awaiting-funds");
  });
});
