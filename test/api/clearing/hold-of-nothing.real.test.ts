/** Money that comes for an intent which has expired, and leaves the chain before it counts. */
import { expect, it } from "vitest";
import type { Hash } from "#kernel/bytes";
import { signedTransfer } from "../../support/deposits.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, sharedSeller } from "../../support/payments.ts";
import { withMiningHeld } from "../../support/scene.ts";

const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

it("does not keep an invoice from being paid or voided", async () => {
  const invoice = await seller.must("POST", "/v1/invoices", {
    ...{ buyer: { name: "Ada" }, currency: "USD", daysUntilDue: 7, issue: true },
    // so much needs a final block
    lines: [{ name: "Tea", unitPrice: { amount: "20000.00", asset: "USD" }, quantity: 1 }],
  });
  const { id } = await seller.must("POST", `/v1/invoices/${invoice.id}/checkout`, {});
  const asked = await seller.confirm(id);
  const raw = await signedTransfer(world, asked.deposit.address, 20_000_000_000n);
  await world.dev.anvil.mine(5);
  clock.forward(62 * 60_000);
  await seller.reaches(id, "expired");
  const arrivals = () =>
    world.house.facilitator.deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
  const held = () =>
    world.database.query<{ held_for: string | null }>("SELECT held_for FROM payable WHERE id = $1", [
      invoice.id,
    ]);
  await withMiningHeld(world, async () => {
    const sent = await world.dev.anvil.rpc<Hash>("eth_sendRawTransaction", [raw]);
    await world.dev.anvil.mine(1);
    await until(async () => (await arrivals())[0]?.isCanonical === true, "it is seen");
    await until(async () => (await seller.read(id)).deposit.deposits.length === 1, "the clearing has looked");
    expect(await held()).toEqual([{ held_for: null }]);
    const receipt = await world.dev.chain.receipt(sent);
    const depth = (await world.dev.chain.head()).number - (receipt?.blockNumber ?? 0) + 1;
    await world.dev.anvil.rpc("anvil_reorg", [depth, []]);
    await world.dev.anvil.mine(1);
    await until(async () => (await arrivals())[0]?.isCanonical === false, "it is gone");
  });
  expect((await seller.read(id)).clearing.state).toBe("expired");
  expect((await seller.ask("POST", `/v1/invoices/${invoice.id}/checkout`, {})).body.code).toBeUndefined();
  expect(await seller.ask("POST", `/v1/invoices/${invoice.id}/void`)).toMatchObject({ status: 200 });
});
