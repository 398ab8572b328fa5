/** What a payer sees of money that could not be used, from the merchant's decision until it has left. */
import { expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import type { CheckoutStatus } from "../../../api/pages/schema.ts";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";

const explorer = "https://explorer.example";
const world = sharedWorld({ explorer });
const seller = sharedSeller(world);

async function statusOf(id: string): Promise<CheckoutStatus> {
  const response = await fetch(`${world.baseUrl}/checkout/${id}/status`);
  return (await response.json()) as CheckoutStatus;
}
const pageOf = async (id: string) =>
  (await fetch(`${world.baseUrl}/checkout/${id}`, { headers: { Accept: "text/html" } })).text();
async function hasLeft(id: string): Promise<void> {
  await until(async () => {
    await world.dev.anvil.mine();
    const { returned } = await statusOf(id);
    return returned.length > 0 && returned.every(({ state }) => state === "sent");
  }, "it has left");
  await expectAtRest(world);
}
const outOf = (place: string, amount: number) => [
  `pending out returns-in-transit → treasury ${amount}`,
  `post out returns-in-transit → treasury ${amount}`,
  `single out ${place} → returns-in-transit ${amount}`,
];

it("is on its way back, then sent back: never a payment that did not work", async () => {
  const asked = await seller.asked();
  const { id } = asked.paymentIntent;
  expect(await statusOf(id)).toMatchObject({ phase: "waiting", returned: [] });
  await seller.cancel(id);
  expect(await statusOf(id)).toMatchObject({ phase: "cancelled", returned: [] });
  await sendTo(world, asked.deposit.address, 4_000_000n);
  await world.dev.anvil.mine(3);
  await seller.reaches(id, "in-review");
  const money = { asset: "USDC", chain: "local", amount: { amount: "4.000000", asset: "USDC" } };
  await withMiningHeld(world, async () => {
    const destination = checksum(newKey().address);
    expect((await seller.review(id, { action: "return", destination })).status).toBe(200);
    const { phase, status, returned } = await statusOf(id);
    expect([phase, status]).toEqual(["returned", "failed"]);
    expect(returned).toMatchObject([{ ...money, transactionHash: null, explorerUrl: null }]);
    expect(["decided", "sending"]).toContain(returned[0]?.state);
    // where it goes, and what the merchant noted, is the merchant's
    expect(Object.keys(returned[0] ?? {}).sort()).toEqual(
      ["amount", "asset", "chain", "explorerUrl", "state", "transactionHash"].sort(),
    );
    expect(await pageOf(id)).toContain("Your money is on its way back");
  });
  await hasLeft(id);
  const { phase, returned } = await statusOf(id);
  expect(phase).toBe("returned");
  expect(returned).toMatchObject([{ ...money, state: "sent" }]);
  const { transactionHash, explorerUrl } = returned[0] ?? {};
  expect(transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
  expect(explorerUrl).toBe(`${explorer}/tx/${transactionHash}`);
  const page = await pageOf(id);
  expect(page).toContain("Your money was sent back");
  expect(page).toContain(`href="${explorerUrl}"`);
  expect(page).not.toContain("did not work");
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(
    expect.arrayContaining(outOf("clearing", 4_000_000)),
  );
});

it("leads back to the invoice that it was to pay, which can be paid anew", async () => {
  const invoice = await seller.must("POST", "/v1/invoices", {
    ...{ buyer: { name: "Ada" }, currency: "USD", issue: true },
    lines: [{ name: "Work", unitPrice: { amount: "10.00", asset: "USD" } }],
  });
  const { id } = await seller.must("POST", `/v1/invoices/${invoice.id}/checkout`, {});
  const { deposit, clearing } = await seller.confirm(id);
  await seller.cancel(id);
  await sendTo(world, deposit.address, 4_000_000n);
  await world.dev.anvil.mine(3);
  await seller.reaches(id, "in-review");
  const decision = { action: "return", destination: checksum(newKey().address) };
  expect((await seller.review(id, decision)).status).toBe(200);
  await hasLeft(id);
  expect((await statusOf(id)).phase).toBe("returned");
  expect(await pageOf(id)).toContain(`<a class="primary" href="/invoices/${invoice.id}/view">`);
  const pay = `${world.baseUrl}/invoices/${invoice.id}/pay`;
  const again = (await fetch(pay, { method: "POST", redirect: "manual" })).headers.get("location");
  expect(again).toMatch(/^[/]checkout[/]pi_/);
  expect(again).not.toBe(`/checkout/${id}`);
  expect(await ledgerOf(world.database, clearing.id)).toEqual(
    expect.arrayContaining(outOf("clearing", 4_000_000)),
  );
});

it("of a payment that is paid: what was too much is told beside it", async () => {
  const key = newKey();
  const asked = await seller.asked({ payment: { payerAddress: key.address } });
  const { id } = asked.paymentIntent;
  await sendTo(world, asked.deposit.address, 13_000_000n, { payer: key });
  await seller.reaches(id, "settled");
  await hasLeft(id);
  const { phase, returned } = await statusOf(id);
  expect(phase).toBe("paid");
  expect(returned).toMatchObject([{ amount: { amount: "3.000000" }, state: "sent" }]);
  expect(await pageOf(id)).toContain(`href="${returned[0]?.explorerUrl}"`);
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(
    expect.arrayContaining(outOf("overpayment", 3_000_000)),
  );
});
