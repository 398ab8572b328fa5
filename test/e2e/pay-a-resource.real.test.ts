import { describe, expect, it } from "vitest";
import {
  books,
  get,
  newPayer,
  post,
  sharedMerchant,
  sharedWorld,
  signPayment,
  until,
} from "../support/house.ts";

const world = sharedWorld({ blockTimeSeconds: 1 });
const merchant = sharedMerchant(world);

describe("a signed payment for a registered resource", () => {
  it("verifies, settles once, is credited less our fee, and becomes final", async () => {
    // given a resource and a payer with money
    const resource = await merchant.register();
    const payer = await newPayer(world.dev);
    const { body } = await signPayment(world.dev, payer, resource);
    const path = `/x402/resources/${resource.id}`;
    // when it is verified and settled
    const verified = await post(world.baseUrl, `${path}/verify`, body);
    const before = await books(world.dev, world.database);
    const settled = await post(world.baseUrl, `${path}/settle`, body);
    // then both say yes, and the answer carries what a stock client reads
    expect(verified).toMatchObject({ status: 200, body: { isValid: true } });
    expect(settled).toMatchObject({ status: 200, body: { success: true, network: "eip155:31337" } });
    // and the money is in the books, pending until its block is final
    expect(before.chain).toBe(0n);
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({
      balanced: true,
      treasury: 10_000n,
      chain: 10_000n,
      unmatched: { posted: 0n, pending: 0n },
    });
    expect(after.available.posted + after.available.pending).toBe(9_950n);
    expect(after.fees.posted + after.fees.pending).toBe(50n);
    // and a second settle is refused with the original transaction
    const again = await post(world.baseUrl, `${path}/settle`, body);
    expect(again).toMatchObject({
      status: 409,
      body: {
        success: false,
        errorReason: "duplicate_settlement",
        transaction: settled.body.transaction,
        network: "eip155:31337",
      },
    });
    // and after finality everything is posted
    const status = async () =>
      (await get(world.baseUrl, new URL(settled.body.extra.statusUrl).pathname)).body;
    await until(async () => (await status()).status === "final", "the settlement becomes final");
    expect(await status()).toMatchObject({
      success: true,
      transaction: settled.body.transaction,
      chargeable: false,
    });
    expect(await books(world.dev, world.database)).toMatchObject({
      balanced: true,
      treasury: 10_000n,
      available: { posted: 9_950n, pending: 0n },
      fees: { posted: 50n, pending: 0n },
    });
  });
});
