/** An issuer puts another contract behind a token while it is served. */
import { expect, it } from "vitest";
import { systemClock } from "#kernel/system";
import { get, sharedMerchant, sharedWorld } from "../support/house.ts";
import { claimOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";
import { tokenChange } from "../support/token-change.ts";

const issuer = tokenChange(systemClock);

const world = sharedWorld({ clock: issuer.clock, wrapChain: issuer.wrapChain });
const merchant = sharedMerchant(world);

const refused = async () => (await get(world.baseUrl, "/health/ready")).body.checks.refusedRails;
const offered = async (id: string): Promise<readonly string[]> =>
  (await get(world.baseUrl, `/x402/resources/${id}/payment-required`)).body.rails.map(
    ({ asset }: { asset: string }) => asset,
  );

it("takes nothing new in it from the next look on, answers what was paid before, and goes on when it is back", async () => {
  const resource = await merchant.register();
  const place = { ...world };
  const before = await newPayment(place, merchant, { resource });
  const paid = await before.settle();
  expect(paid.body).toMatchObject({ success: true });
  const late = await newPayment(place, merchant, { resource });
  expect(await offered(resource.id)).toEqual(["USDC", "USDG"]);

  await issuer.change(
    (token) => token === world.dev.usdc,
    async () => (await refused()).length > 0,
  );

  expect(await refused()).toEqual([
    {
      chain: "local",
      asset: "USDC",
      problem: expect.stringMatching(/^USDC on local .*: its code has changed$/),
    },
  ]);
  expect(await offered(resource.id)).toEqual(["USDG"]);
  for (const answer of [await late.verify(), await late.settle()])
    expect(answer.body).toMatchObject({
      [answer.body.success === undefined ? "invalidReason" : "errorReason"]: "invalid_transaction_state",
    });
  expect(await claimOf(world.database, late.nonce)).toBeNull();
  expect((await before.settle()).body).toMatchObject({ success: false, transaction: paid.body.transaction });

  await issuer.change(
    () => false,
    async () => (await refused()).length === 0,
  );
  expect((await late.settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
});
