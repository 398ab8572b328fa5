/** Two processes whose wall clocks are two hours apart: what may be paid, and when, goes by the chain's time. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sharedMerchant, sharedWorld } from "../support/house.ts";
import { type ServiceProcess, startProcess } from "../support/processes.ts";
import { claimOf, ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 });

const HOUR_MS = 3_600_000;
const instances: Record<string, ServiceProcess> = {};
const start = (clockAheadMs: number) => startProcess(world.dev, world.database, { clockAheadMs });

/** The house in this process has no loops. */
const world = sharedWorld({ role: "web" });
const merchant = sharedMerchant(world);
beforeAll(async () => {
  const [ahead, behind] = await Promise.all([HOUR_MS, -HOUR_MS].map(start));
  Object.assign(instances, { ahead, behind });
});
afterAll(async () => {
  for (const instance of Object.values(instances)) await instance.stop();
});

const inSeconds = async (seconds: number) => BigInt((await world.dev.chain.head()).timestamp + seconds);

describe.each(["ahead", "behind"])("an instance an hour %s", (which) => {
  const at = () => instances[which]?.baseUrl ?? "";

  it("settles what the chain still takes for minutes, whoever of the two follows it", async () => {
    const paid = await newPayment(world, merchant, { terms: { validBefore: await inSeconds(240) } });
    expect((await paid.settle({}, at())).body).toMatchObject({ success: true });
    await expectAtRest(world);
    const claim = await claimOf(world.database, paid.nonce);
    expect(claim).toMatchObject({ state: "final", credit_epoch: 0 });
    expect(await ledgerOf(world.database, claim?.id ?? "")).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
  });

  it("refuses what has expired on the chain, and what is not valid there yet", async () => {
    const late = await newPayment(world, merchant, { terms: { validBefore: await inSeconds(-30) } });
    const early = await newPayment(world, merchant, {
      terms: { validAfter: await inSeconds(1_800), validBefore: await inSeconds(7_200) },
    });
    for (const [paid, reason] of [
      [late, "invalid_exact_evm_payload_authorization_valid_before"],
      [early, "invalid_exact_evm_payload_authorization_valid_after"],
    ] as const) {
      expect(await paid.settle({}, at())).toMatchObject({
        status: 200,
        body: { success: false, errorReason: reason },
      });
      expect(await claimOf(world.database, paid.nonce)).toBeNull();
    }
  });
});

describe("the instance that worked dies", () => {
  it("and the other, whose clock is elsewhere, takes its leases when they lapse by the database's clock", async () => {
    for (const [gone, left] of [
      ["ahead", "behind"],
      ["behind", "ahead"],
    ] as const) {
      await instances[gone]?.stop();
      const paid = await newPayment(world, merchant);
      expect((await paid.settle({}, instances[left]?.baseUrl)).body).toMatchObject({ success: true });
      instances[gone] = await start(gone === "ahead" ? HOUR_MS : -HOUR_MS);
    }
    await expectAtRest(world);
  });
});
