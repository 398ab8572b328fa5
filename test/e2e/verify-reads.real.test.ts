/** What verifies ask of the chain, seen from its endpoint. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { newMerchant, newPayer, type RunningHouse, startHouse } from "../support/house.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { newPayment } from "../support/scene.ts";

const AT_ONCE = 100;
const ROUNDS = 20;

let dev: DevChain;
let database: TestDatabase;
let endpoint: RpcProxy;
let house: RunningHouse;

beforeAll(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
  endpoint = await startRpcProxy(dev.anvil.rpcUrl);
  house = await startHouse({ ...dev, config: { ...dev.config, rpcUrls: [endpoint.url] } }, database);
});
afterAll(async () => {
  await house?.stop();
  await endpoint?.stop();
  await database?.drop();
  await dev?.stop();
});

it("a hundred at once, of as many payers, are two calls: one for their transfers, one for their code", async () => {
  const merchant = await newMerchant(house);
  const place = { dev, database, baseUrl: house.baseUrl };
  const resource = await merchant.register();
  const payers = await Promise.all(Array.from({ length: AT_ONCE }, () => newPayer(dev, 10_000n)));
  const payments = await Promise.all(payers.map((payer) => newPayment(place, merchant, { resource, payer })));
  let calls = 0;
  endpoint.set((call, real) => {
    // What the loops ask, which follow the chain, they ask with or without verifies.
    if (call.method === "eth_call") calls += 1;
    return real();
  });
  const counts: number[] = [];
  // Connections stand from the first round on; on a busy machine not all of a round come within the moment that is waited.
  for (let round = 0; round < ROUNDS && counts.at(-1) !== 2; round += 1) {
    calls = 0;
    const answers = await Promise.all(payments.map((paid) => paid.verify()));
    expect(answers.filter(({ body }) => !body.isValid)).toEqual([]);
    counts.push(calls);
  }
  expect(counts.at(-1)).toBe(2);
});
