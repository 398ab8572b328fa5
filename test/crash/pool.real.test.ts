/** A pool of connections that is empty for a while. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { gate } from "../support/chain-faults.ts";
import { get, newMerchant, startWorld } from "../support/house.ts";
import { claimOf, ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;
beforeAll(async () => {
  world = await startWorld();
  merchant = await newMerchant(world);
});
afterAll(() => world?.stop());

/** Of the pool that answers requests. */
const CONNECTIONS = 12;

/** Takes every connection of the pool until it is let go. */
async function emptyPool(): Promise<{ readonly refill: () => Promise<unknown> }> {
  const held = gate();
  const taken = Array.from({ length: CONNECTIONS }, gate);
  const holding = taken.map(({ open }) =>
    world.house.db.tx(async () => {
      open();
      await held.passed;
    }),
  );
  await Promise.all(taken.map(({ passed }) => passed));
  return {
    refill: () => {
      held.open();
      return Promise.all(holding);
    },
  };
}

describe("no connection to be had", () => {
  it("is 503 with Retry-After in time, claims nothing, and is over as soon as there is one", async () => {
    const paid = await newPayment(world, merchant);
    const pool = await emptyPool();
    const began = performance.now();
    const [settled, verified, listed, ready] = await Promise.all([
      paid.settle(),
      paid.verify(),
      merchant.call("/v1/x402/resources"),
      get(world.baseUrl, "/health/ready"),
    ]);
    const ms = performance.now() - began;
    await pool.refill();
    expect(ms).toBeLessThan(8_000); // 1.5 s for a connection, on an idle machine
    expect(settled).toMatchObject({
      status: 503,
      body: { success: false, errorReason: "unexpected_settle_error", transaction: "" },
    });
    expect(settled.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(verified.body).toMatchObject({ isValid: false, invalidReason: "unexpected_verify_error" });
    expect(listed.status).toBe(503);
    expect(listed.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(ready.status).toBe(503);
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
    const { id } = (await claimOf(world.database, paid.nonce)) ?? { id: "" };
    expect(await ledgerOf(world.database, id)).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  });
});
