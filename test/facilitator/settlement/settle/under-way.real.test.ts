/** What a payer has under way counts against what it holds, until the chain has moved it. */
import { expect, it } from "vitest";
import { newPayer, sharedMerchant, sharedWorld, until } from "../../../support/house.ts";
import { claimOf } from "../../../support/records.ts";
import { expectAtRest, newPayment, withMiningHeld } from "../../../support/scene.ts";

const LARGE = 10_000n;
const DOLLAR = 1_000_000n;
const world = sharedWorld({ settings: { maxWaitMs: 500 } });
const merchant = sharedMerchant(world);

/** So much that its credit waits for a final block; its transfer is recorded. */
async function largePayment(payer: Awaited<ReturnType<typeof newPayer>>) {
  const large = await newPayment(world, merchant, { payer, dollars: LARGE });
  expect((await large.settle()).body).toMatchObject({
    success: false,
    errorReason: "settlement_pending",
    transaction: expect.stringMatching(/^0x/),
  });
  const isThere = (canonical: boolean) =>
    until(async () => {
      const [log] = await world.database.query<{ canonical: boolean }>(
        `SELECT canonical FROM chain_transfer
         WHERE authorization_key = (SELECT claim_key FROM claim WHERE nonce = decode($1, 'hex'))
         ORDER BY canonical DESC`,
        [large.nonce.slice(2)],
      );
      return log?.canonical === canonical;
    }, `on the chain: ${canonical}`);
  await isThere(true);
  expect(await claimOf(world.database, large.nonce)).toMatchObject({ state: "submitting" });
  return { ...large, isThere };
}

it("what was moved, and waits to be credited, takes no more from what is left", async () => {
  const payer = await newPayer(world.dev, LARGE * DOLLAR + 10_000n);
  const large = await largePayment(payer);
  const small = await newPayment(world, merchant, { payer });
  expect((await small.verify()).body).toMatchObject({ isValid: true });
  expect((await small.settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
  expect(await claimOf(world.database, large.nonce)).toMatchObject({ state: "final" });
});

it("it counts again when its block has left the chain: it may be moved once more", async () => {
  const payer = await newPayer(world.dev, LARGE * DOLLAR);
  const large = await largePayment(payer);
  const small = await newPayment(world, merchant, { payer });
  await withMiningHeld(world, async () => {
    await world.dev.anvil.rpc("anvil_reorg", [1, []]);
    await large.isThere(false);
    expect((await small.verify()).body).toMatchObject({
      isValid: false,
      invalidReason: "insufficient_funds",
      invalidMessage: expect.stringContaining("open payments included"),
    });
  });
  await world.dev.anvil.mine();
  await expectAtRest(world);
  expect(await claimOf(world.database, large.nonce)).toMatchObject({ state: "final", credit_epoch: 0 });
  expect(await claimOf(world.database, small.nonce)).toBeNull();
});
