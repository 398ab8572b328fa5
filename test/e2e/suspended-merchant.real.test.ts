/** What an agent meets at a merchant that the operator suspends: the program as it runs, its jobs among it. */
import { expect, it } from "vitest";
import { resumeMerchant, suspendMerchant } from "#api";
import { systemClock } from "#kernel/system";
import { get, post, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

const world = sharedWorld();
const merchant = sharedMerchant(world);

it("is offered nothing, settles nothing and finds nothing; after a resume it pays as before", async () => {
  const operator = { db: world.house.db, clock: systemClock, newId: world.house.newId };
  const shown = async () => {
    const { body } = await get(world.baseUrl, "/x402/resources?limit=100");
    return body.items.some(({ id }: { id: string }) => id === paid.resource.id);
  };
  // given a listed resource, and a payment that was signed for it
  const paid = await newPayment(world, merchant);
  await merchant.call(`/v1/x402/resources/${paid.resource.id}/list`, { method: "POST" });
  expect(await shown()).toBe(true);
  const verify = async () => (await post(world.baseUrl, "/x402/verify", paid.body)).body.isValid === true;
  expect(await verify()).toBe(true);
  // when its merchant is suspended
  await suspendMerchant(operator, { merchantId: merchant.id, reason: "Nothing was sent." });
  await until(async () => !(await verify()), "the offer is withdrawn");
  // then the payment is refused, and nothing of it is kept
  const refused = await post(world.baseUrl, "/x402/settle", paid.body);
  expect([refused.status < 500, refused.body.success]).toEqual([true, false]);
  expect(await shown()).toBe(false);
  expect(await world.database.query("SELECT FROM claim")).toEqual([]);
  // and once it is resumed, the same payment is taken
  await resumeMerchant(operator, merchant.id);
  await until(verify, "it is offered again");
  expect((await post(world.baseUrl, "/x402/settle", paid.body)).body).toMatchObject({ success: true });
  expect(await shown()).toBe(true);
  await expectAtRest(world);
});
