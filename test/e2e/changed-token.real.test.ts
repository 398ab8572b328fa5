/** An issuer puts another contract behind a token while it is served. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Clock } from "#kernel/clock";
import { systemClock } from "#kernel/system";
import type { TokenFacts } from "../../facilitator/chain/port.ts";
import { gate } from "../support/gate.ts";
import { get, newMerchant, startWorld, until } from "../support/house.ts";
import { claimOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

/** Nothing but the looks at tokens waits for so long, or longer. */
const LONG_MS = 600_000;

/** The time of the next look comes when the test says so. */
let nextLook = gate();
function look(): void {
  const thisOne = nextLook;
  nextLook = gate();
  thisOne.open();
}
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) =>
    Promise.race([systemClock.sleep(ms, signal), ...(ms >= LONG_MS ? [nextLook.passed] : [])]),
};
let change: Partial<TokenFacts> = {};
const isUsdc = (token: string) => token === world?.dev.usdc;
let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;

beforeAll(async () => {
  world = await startWorld({
    clock,
    wrapChain: (chain) => ({
      ...chain,
      tokenFacts: async (token) => ({
        ...(await chain.tokenFacts(token)),
        ...(isUsdc(token) ? change : {}),
      }),
    }),
  });
  merchant = await newMerchant(world);
});
afterAll(async () => {
  await world.stop();
});

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

  change = { codeHash: `0x${"1".repeat(64)}` as TokenFacts["codeHash"] };
  look();
  await until(async () => (await refused()).length > 0, "the rail is paused");

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

  change = {};
  look();
  await until(async () => (await refused()).length === 0, "the rail is taken again");
  expect((await late.settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
});
