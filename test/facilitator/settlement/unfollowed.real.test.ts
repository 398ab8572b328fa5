/** A chain that no process has begun to follow. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { type DevChain, startDevChain } from "../../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse, until } from "../../support/house.ts";
import { stateOf } from "../../support/records.ts";
import { newPayment } from "../../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;
let asking: RunningHouse;

beforeAll(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
  asking = await startHouse(dev, database, { role: "web", settings: { maxWaitMs: 100 } });
});
afterAll(async () => {
  await asking?.stop();
  await database?.drop();
  await dev?.stop();
});

it("takes no payment: one that a stranger makes before the first block that is followed would never be seen", async () => {
  const merchant = await newMerchant(asking);
  const payment = await newPayment({ dev, database, baseUrl: asking.baseUrl }, merchant);
  const refused = await payment.settle();
  expect([refused.status, refused.body]).toEqual([
    503,
    expect.objectContaining({ success: false, errorReason: "unexpected_settle_error" }),
  ]);
  expect(await database.query("SELECT id FROM claim")).toEqual([]);
  const working = await startHouse(dev, database);
  try {
    await until(async () => {
      await payment.settle();
      await dev.anvil.mine();
      return (await stateOf(database, payment.nonce)) === "final";
    }, "the same request is settled once somebody follows the chain");
  } finally {
    await working.stop();
  }
});
