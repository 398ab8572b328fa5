/** A clearing that is made due while its turn asks for a rate: what that turn has read is old. */
import { expect, it } from "vitest";
import { fixedRates, type Rates } from "#api";
import { silentLog } from "../../support/dev-chain.ts";
import { newPayer, type Resource, sharedWorld, signPayment, until } from "../../support/house.ts";
import { movableClock, sharedSeller } from "../../support/payments.ts";
import { withMiningHeld } from "../../support/scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const steady = fixedRates({ clock, log: silentLog });
/** Runs while a source of rates thinks. */
let meanwhile: (() => Promise<void>) | null = null;
const rates: Rates = {
  async rate(pair) {
    const work = meanwhile;
    meanwhile = null;
    await work?.();
    return steady.rate(pair);
  },
};
const world = sharedWorld({ clock, rates, settings: { maxWaitMs: 1_000 } });
const seller = sharedSeller(world);

it("settles, though its payment was credited while the end of its window was looked at", async () => {
  const { id } = await seller.intent({ amount: { amount: "8", asset: "GBP" } });
  const url = `${world.baseUrl}/x402/payables/${id}`;
  const required = JSON.parse(
    Buffer.from((await fetch(url)).headers.get("PAYMENT-REQUIRED") ?? "", "base64").toString("utf8"),
  );
  const [option] = required.accepts;
  const offer: Resource = {
    ...{ id, url, maxTimeoutSeconds: option.maxTimeoutSeconds },
    accepts: [{ asset: "USDC", contract: option.asset, payTo: option.payTo, domain: option.extra }],
  };
  const amount = BigInt(option.amount);
  const payer = await newPayer(world.dev, amount);
  const { body } = await signPayment(world.dev, payer, offer, { amount });
  body.paymentRequirements.amount = `${amount}`;
  const header = Buffer.from(JSON.stringify(body.paymentPayload)).toString("base64");
  await withMiningHeld(world, async () => {
    // given a payment that is on its way
    const answer = await fetch(url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
    expect(await answer.json()).toMatchObject({ success: false });
    await seller.reaches(id, "funds-detected");
    // when its block comes, and is told of, while the turn at the end of the window asks for today's rate
    let isTold = false;
    meanwhile = async () => {
      await world.dev.anvil.mine(1);
      await until(async () => {
        const told = await world.database.query(
          `SELECT 1 FROM outbox WHERE type = 'settlement.credited' AND delivered_at IS NOT NULL
             AND payload->>'payableId' = $1`,
          [id],
        );
        return told.length === 1;
      }, "it is credited and told");
      isTold = true;
    };
    clock.forward(62 * MINUTE);
    await until(async () => isTold, "the turn has asked for a rate");
  });
  await world.dev.anvil.mine(5);
  // then it settles
  expect((await seller.reaches(id, "settled")).paymentIntent.status).toBe("completed");
});
