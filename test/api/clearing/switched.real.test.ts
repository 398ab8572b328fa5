/** Money for an order whose payer went another way, or that somebody else sent. */
import { expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld } from "../../support/house.ts";
import { movableClock, sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { addressOf, arrives } from "./deposit-scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

/** What a payer chooses at the page of an intent. */
async function switchTo(id: string, executionPath: string) {
  await fetch(`${world.baseUrl}/checkout/${id}/confirm`, {
    ...{ method: "POST", redirect: "manual", headers: { "Sec-Fetch-Site": "same-origin" } },
    body: new URLSearchParams({ chain: "local", asset: "USDC", executionPath }),
  });
  return seller.read(id);
}

it("that came before any agent did is its merchant's to decide, not the operator's", async () => {
  const asked = await seller.asked();
  const { id } = asked.paymentIntent;
  expect(await switchTo(id, "x402")).toMatchObject({
    paymentIntent: { executionPath: "x402" },
    clearing: { state: "awaiting-funds", providerReference: null },
  });
  const { payer } = await sendTo(world, addressOf(asked), 10_000_000n);
  await seller.reaches(id, "in-review");
  expect(await seller.must("GET", "/v1/payments?reviewRequired=true")).toMatchObject([
    { paymentIntent: { id } },
  ]);
  expect(await seller.review(id, { action: "return", destination: payer.address })).toMatchObject({
    status: 200,
    body: { paymentIntent: { status: "failed" }, clearing: { state: "returned" } },
  });
  await arrives(world, payer.address, 10_000_000n);
  await expectAtRest(world);
  expect((await ledgerOf(world.database, asked.clearing.id)).slice(0, 2)).toEqual([
    "single unmatched deposit → unmatched 10000000",
    "single out unmatched → returns-in-transit 10000000",
  ]);
});

it("goes back unasked to nobody but who paid through the router, or is named and sent it", async () => {
  const payment = { payerAddress: newKey().address };
  const { id } = await seller.intent({ executionPath: "on-chain-contract", payment });
  await switchTo(id, "on-chain-contract");
  const asked = await switchTo(id, "deposit-match");
  const { payer } = await sendTo(world, addressOf(asked), 4_000_000n);
  await seller.reaches(id, "funds-detected");
  clock.forward(45 * MINUTE);
  await seller.reaches(id, "in-review");
  expect(await seller.review(id, { action: "return" })).toMatchObject({
    status: 422,
    body: { code: "destination_required", detail: expect.stringContaining(checksum(payer.address)) },
  });
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
    "single clearing deposit → clearing 4000000",
  ]);
});
