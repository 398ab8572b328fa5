/** A place of a link whose block left the chain: the agent's payment comes again by itself, so nobody else has it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { payerOf } from "../../property/bills/payer.ts";
import { openShop, type Shop } from "../../property/payments/shop.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

it("an agent's payment that was reversed keeps its place, and is the link's only one when it is back", async () => {
  const { sim, database } = shop.world;
  const { body: link } = await shop.call("POST", "/v1/payment-links", {
    kind: "open",
    currency: "USD",
    maxPayments: 1,
  });
  const agent = payerOf(shop);
  await agent.payAsAgent(`/x402/payables/${link.id}?amount=5.00`);
  const states = async () =>
    (await database.query<{ state: string }>("SELECT state FROM clearing")).map(({ state }) => state);
  const isPayable = async () => (await shop.call("GET", `/v1/payment-links/${link.id}`)).body.payable;
  for (let turns = 0; turns < 20 && (await states())[0] !== "settled"; turns += 1) {
    sim.mine();
    await shop.turn();
  }
  expect([await states(), await isPayable()]).toEqual([["settled"], false]);

  sim.fork(1, () => true);
  await shop.turn();
  expect([await states(), await isPayable()]).toEqual([["reversed"], false]);

  for (let turns = 0; turns < 20 && (await states())[0] !== "settled"; turns += 1) {
    sim.mine();
    await shop.turn();
  }
  expect([await states(), await isPayable()]).toEqual([["settled"], false]);
});
