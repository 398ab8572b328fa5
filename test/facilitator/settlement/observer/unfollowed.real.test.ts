/** A chain that no process has begun to follow. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { type DevChain, startDevChain } from "../../../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse, until } from "../../../support/house.ts";
import { stateOf } from "../../../support/records.ts";
import { newPayment, submitAsStranger } from "../../../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;
let asking: RunningHouse;

beforeEach(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
  asking = await startHouse(dev, database, { role: "web", settings: { maxWaitMs: 100 } });
});
afterEach(async () => {
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

it("does not take for new what a stranger paid in the very block at which following begins", async () => {
  const merchant = await newMerchant(asking);
  const payment = await newPayment({ dev, database, baseUrl: asking.baseUrl }, merchant);
  await submitAsStranger({ dev, database, baseUrl: asking.baseUrl }, payment.signed.call);
  const { number } = await dev.chain.head();
  while ((await dev.chain.finalized()).number < number) await dev.anvil.mine();
  const working = await startHouse(dev, database);
  try {
    const rows = () => database.query<{ start_block: string }>("SELECT start_block FROM observer");
    await until(async () => (await rows()).length === 1, "somebody follows the chain");
    expect(await rows()).toEqual([{ start_block: `${number}` }]);
    // Its money is in what the treasury held at the beginning: to claim it would wait for a block that was before.
    expect(await payment.settle({}, working.baseUrl)).toMatchObject({
      status: 200,
      body: { success: false, errorReason: "invalid_exact_evm_nonce_already_used" },
    });
    expect(await database.query("SELECT id FROM claim")).toEqual([]);
  } finally {
    await working.stop();
  }
});
