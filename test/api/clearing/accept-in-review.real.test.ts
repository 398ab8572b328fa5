/** A deposit to the order of an intent whose agent's payment waits for a person, who has yet to decide. */
import { expect, it } from "vitest";
import { address, checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { expectAtRest, newPayment, submitAsStranger } from "../../support/scene.ts";

const clock = movableClock();
const world = sharedWorld({ clock, settings: { maxWaitMs: 1_000 } });

/** Blocks come until it holds. */
const inTime = (holds: () => Promise<boolean>, what: string) =>
  until(async () => {
    await world.dev.anvil.mine();
    return holds();
  }, what);

/** An authorization that was verified for something else, submitted by a stranger, and claimed for the intent; and a deposit
 *  of all that is due. */
async function inReview(seller: Seller) {
  const asked = await seller.asked();
  const { id } = asked.paymentIntent;
  const paid = await newPayment(world, seller, { dollars: 10n });
  expect((await paid.verify()).body).toMatchObject({ isValid: true });
  await submitAsStranger(world, paid.signed.call);
  const url = `${world.baseUrl}/x402/payables/${id}`;
  const payload = { ...paid.body.paymentPayload, resource: { url } };
  const header = Buffer.from(JSON.stringify(payload)).toString("base64");
  const answer = await fetch(url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
  const { extra } = (await answer.json()) as { extra: { paymentId: string } };
  await seller.reaches(id, "in-review");
  await sendTo(world, address(asked.deposit.address), 10_000_000n);
  await world.dev.anvil.mine(5);
  const booked = () =>
    world.database.query("SELECT 1 FROM clearing_deposit WHERE clearing_id = $1 AND is_booked", [
      asked.clearing.id,
    ]);
  await until(async () => (await booked()).length === 1, "the deposit is booked");
  return { id, paymentId: extra.paymentId };
}

it("is the payment when the operator sends the agent's money back; the merchant decides about neither", async () => {
  const seller = await newSeller(world);
  const { id, paymentId } = await inReview(seller);
  expect(await seller.must("GET", "/v1/payments?reviewRequired=true")).toEqual([]);
  for (const action of ["accept", "extend"])
    expect(await seller.review(id, { action })).toMatchObject({
      status: 409,
      body: { code: "review_by_operator", detail: expect.stringContaining(paymentId) },
    });
  await inTime(async () => (await world.house.reviews.sendBack(paymentId)) === null, "it goes back");
  await inTime(
    async () => (await seller.read(id)).clearing.state === "settled",
    "the deposit is the payment",
  );
  expect(await seller.available()).toBe("9.950000");
});

it("given back, it does not hide that the operator accepted the agent's payment", async () => {
  const seller = await newSeller(world);
  const { id, paymentId } = await inReview(seller);
  const destination = newKey().address;
  const returned = await seller.review(id, { action: "return", destination: checksum(destination) });
  expect(returned).toMatchObject({ status: 200, body: { clearing: { state: "in-review" } } });
  await inTime(async () => (await world.house.reviews.accept(paymentId)) === null, "it is accepted");
  await inTime(async () => (await seller.read(id)).paymentIntent.status === "completed", "it is completed");
  await inTime(async () => {
    return (await world.dev.chain.tokenBalance(world.dev.usdc, destination, "latest")) === 10_000_000n;
  }, "the deposit is back");
  expect(await seller.available()).toBe("9.950000");
  await expectAtRest(world);
});
