/** More payments than are settled in time. */
import { expect, it } from "vitest";
import { newPayer, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { claimOf, ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment, withMiningHeld } from "../support/scene.ts";

const world = sharedWorld({ settings: { late: { ms: 300, blocks: 0, most: 4, outsideMs: 200 } } });
const merchant = sharedMerchant(world);

async function ledgerOfPayment({ nonce }: Payment): Promise<readonly string[]> {
  return ledgerOf(world.database, (await claimOf(world.database, nonce))?.id ?? "");
}

it("wait outside: who comes while many are late is told to come again, and pays once; another payable has room", async () => {
  const resource = await merchant.register();
  const atIt = () => newPayment(world, merchant, { resource });
  const first = [await atIt(), await atIt(), await atIt(), await atIt(), await atIt()];
  const [next, elsewhere] = [await atIt(), await newPayment(world, merchant)];
  const penniless = await newPayment(world, merchant, { resource, payer: await newPayer(world.dev, 0n) });
  const { waiting, sentAway } = await withMiningHeld(world, async () => {
    const waiting = first.map(({ settle }) => settle());
    await until(async () => (await penniless.settle()).status === 503, "they are late");
    const sentAway = await next.settle();
    waiting.push(elsewhere.settle());
    await until(async () => (await claimOf(world.database, elsewhere.nonce)) !== null, "it is taken");
    return { waiting, sentAway };
  });
  expect([sentAway.status, sentAway.headers.get("retry-after"), sentAway.body]).toEqual([
    503,
    "5",
    expect.objectContaining({ success: false, errorReason: "unexpected_settle_error", transaction: "" }),
  ]);
  expect(sentAway.body.errorMessage).toContain("Repeat the identical request");
  expect(await claimOf(world.database, next.nonce)).toBeNull();
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  await until(async () => (await next.settle()).body.success === true, "the next one is taken");
  await expectAtRest(world);
  const settledOnce = [
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ];
  for (const payment of [...first, next, elsewhere])
    expect(await ledgerOfPayment(payment)).toEqual(settledOnce);
  expect(await claimOf(world.database, penniless.nonce)).toBeNull();
});
