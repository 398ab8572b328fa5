/** What leaves the treasury for a merchant whose money is final. */
import { expect } from "vitest";
import { newKey } from "./authorization.ts";
import { newMerchant, until, type World } from "./house.ts";
import { expectAtRest, newPayment } from "./scene.ts";

/** A merchant with a dollar, and how to have some of it leave to `recipient`. */
export async function merchantWithPayouts(world: World) {
  const merchant = await newMerchant(world, 0);
  const paid = await newPayment(world, merchant, { dollars: 1n });
  expect((await paid.settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
  const recipient = newKey().address;
  const { outgoing } = world.house.facilitator;
  const stateOf = async (id: string) => (await outgoing.status([id]))[0]?.state;
  return {
    merchant,
    recipient,
    async payOut(id: string, amount: bigint): Promise<string> {
      const order = { id, kind: "payout", merchantId: merchant.id, chainId: 31_337, recipient } as const;
      await world.database.db.tx((tx) => outgoing.queue(tx, { ...order, token: world.dev.usdc, amount }));
      return id;
    },
    stateOf,
    leaves: (id: string) =>
      until(async () => ["sent", "final"].includes((await stateOf(id)) ?? ""), `${id} leaves`),
  };
}
