/** More payments than are settled in time. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMerchant, newPayer, startWorld, until } from "../support/house.ts";
import { claimOf, ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment, withMiningHeld } from "../support/scene.ts";

let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;

beforeAll(async () => {
  world = await startWorld({ settings: { late: { ms: 300, blocks: 0, most: 1, outsideMs: 200 } } });
  merchant = await newMerchant(world);
});
afterAll(() => world.stop());

async function ledgerOfPayment({ nonce }: Payment): Promise<readonly string[]> {
  return ledgerOf(world.database, (await claimOf(world.database, nonce))?.id ?? "");
}

it("waits outside: who comes while many are late is told to come again, and pays once when they are in time", async () => {
  const [one, other, third] = [
    await newPayment(world, merchant),
    await newPayment(world, merchant),
    await newPayment(world, merchant),
  ];
  const penniless = await newPayment(world, merchant, { payer: await newPayer(world.dev, 0n) });
  const { waiting, sentAway } = await withMiningHeld(world, async () => {
    const waiting = [one.settle(), other.settle()];
    await until(async () => (await penniless.settle()).status === 503, "both are late");
    return { waiting, sentAway: await third.settle() };
  });
  expect([sentAway.status, sentAway.headers.get("retry-after"), sentAway.body]).toEqual([
    503,
    "5",
    expect.objectContaining({ success: false, errorReason: "unexpected_settle_error", transaction: "" }),
  ]);
  expect(sentAway.body.errorMessage).toContain("Repeat the identical request");
  expect(await claimOf(world.database, third.nonce)).toBeNull();
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  await until(async () => (await third.settle()).body.success === true, "the third one is taken");
  await expectAtRest(world);
  const settledOnce = [
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ];
  for (const payment of [one, other, third]) expect(await ledgerOfPayment(payment)).toEqual(settledOnce);
  expect(await claimOf(world.database, penniless.nonce)).toBeNull();
});
