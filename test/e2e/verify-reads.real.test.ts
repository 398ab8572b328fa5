/** What verifies ask of the chain, seen from its endpoint. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { newMerchant, newPayer, type RunningHouse, startHouse } from "../support/house.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { newPayment } from "../support/scene.ts";

const AT_ONCE = 100;

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

it("a hundred at once, of as many payers, are two calls: one for their money and nonces, one for their code", async () => {
  const merchant = await newMerchant(house);
  const place = { dev, database, baseUrl: house.baseUrl };
  const resource = await merchant.register();
  const round = async () => {
    const payers = await Promise.all(Array.from({ length: AT_ONCE }, () => newPayer(dev, 10_000n)));
    return Promise.all(payers.map((payer) => newPayment(place, merchant, { resource, payer })));
  };
  const [first, second] = [await round(), await round()];
  await Promise.all(first.map((paid) => paid.verify())); // connections stand from here on
  const calls: string[] = [];
  endpoint.set((call, real) => {
    // What the loops ask, which follow the chain, they ask with or without verifies.
    if (call.method === "eth_call") calls.push(JSON.stringify(call.params));
    return real();
  });
  const answers = await Promise.all(second.map((paid) => paid.verify()));
  endpoint.clear();
  expect(answers.filter(({ body }) => !body.isValid)).toEqual([]);
  expect(calls.map((call) => call.length)).toHaveLength(2);
});
