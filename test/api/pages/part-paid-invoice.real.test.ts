/** A buyer who paid part of an invoice and comes back by the link of its mail. */
import { expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";

const world = sharedWorld();
const seller = sharedSeller(world);

/** An invoice of 60 dollars at whose page somebody pressed the button, and sent 20. */
async function partPaid() {
  const invoice = await seller.must("POST", "/v1/invoices", {
    ...{ buyer: { name: "Ada" }, currency: "USD", issue: true },
    lines: [{ name: "Work", unitPrice: { amount: "60.00", asset: "USD" } }],
  });
  const checkout = await press(invoice.id);
  const id = checkout.split("/").at(-1) ?? "";
  const { deposit, clearing } = await seller.confirm(id);
  await sendTo(world, deposit.address, 20_000_000n);
  await until(async () => (await seller.read(id)).clearing.state === "funds-detected", "a part has come");
  return { invoice, checkout, id, deposit, clearingId: clearing.id };
}

async function press(id: string): Promise<string> {
  const url = `${world.baseUrl}/invoices/${id}/pay`;
  const { status, headers } = await fetch(url, { method: "POST", redirect: "manual" });
  expect(status).toBe(303);
  return headers.get("location") ?? "";
}
const pageOf = async (id: string) => (await fetch(`${world.baseUrl}/invoices/${id}/view`)).text();
const intentsOf = (id: string) =>
  world.database.query<{ id: string }>("SELECT id FROM payment_intent WHERE metadata->>'invoiceId' = $1", [
    id,
  ]);
const stateOf = async (id: string) => (await seller.must("GET", `/v1/invoices/${id}`)).state;

it("finds the payment that the rest belongs to, and is not asked for the whole again", async () => {
  const { invoice, checkout, id, deposit, clearingId } = await partPaid();
  const page = await pageOf(invoice.id);
  expect(page).toContain("A payment of this invoice is under way.");
  expect(page).toContain(`href="${checkout}"`);
  expect(page).not.toContain("<button");
  expect(await press(invoice.id)).toBe(checkout);
  await sendTo(world, deposit.address, 40_000_000n);
  await seller.reaches(id, "settled");
  await until(async () => (await stateOf(invoice.id)) === "paid", "the invoice is paid");
  expect(await pageOf(invoice.id)).not.toContain("under way");
  expect(await ledgerOf(world.database, clearingId)).toEqual(
    expect.arrayContaining([
      "single clearing deposit → clearing 20000000",
      "single clearing deposit → clearing 40000000",
      "pending net clearing → available 59700000",
      "pending fee clearing → fees 300000",
    ]),
  );
  expect(await intentsOf(invoice.id)).toEqual([{ id }]);
});

it("of an invoice that was listed: that there is a payment, not which, since anybody may have found it", async () => {
  const { invoice, checkout, id, clearingId } = await partPaid();
  for (const word of ["list", "unlist"]) {
    await seller.must("POST", `/v1/invoices/${invoice.id}/${word}`);
    const page = await pageOf(invoice.id);
    expect(page).toContain("A payment of this invoice is under way.");
    expect(page).not.toContain(checkout);
    expect(page).not.toContain("<button");
    expect(await press(invoice.id)).toBe(`/invoices/${invoice.id}/view?problem=linkPending`);
  }
  const booked = () => ledgerOf(world.database, clearingId);
  await until(async () => (await booked()).length > 0, "it is booked");
  expect(await booked()).toEqual(["single clearing deposit → clearing 20000000"]);
  expect(await intentsOf(invoice.id)).toEqual([{ id }]);
});
