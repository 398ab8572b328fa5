/** A process is killed while its leases last for minutes: another one sees that it is gone, and goes on. */
import { afterAll, describe, expect, it } from "vitest";
import { newMerchant, sharedWorld, until } from "../support/house.ts";
import { type ServiceProcess, startProcess } from "../support/processes.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

const LANES = 2;
/** Longer than the test: a lease that had to lapse would fail it. */
const settings = { leaseSeconds: 600 };
const services: ServiceProcess[] = [];

/** The house in this process has no loops: it registers resources and looks. */
const world = sharedWorld({ role: "web" });
afterAll(async () => {
  await Promise.all(services.map((each) => each.stop()));
});

async function start(): Promise<ServiceProcess> {
  const service = await startProcess(world.dev, world.database, { lanes: LANES, settings });
  services.push(service);
  return service;
}

/** Who has the leases of the chain and its lanes, and under which fences. */
async function holders(): Promise<readonly { holder: string | null; fence: string }[]> {
  return world.database.query(
    `SELECT lease_holder AS holder, fence FROM observer UNION ALL SELECT lease_holder, fence FROM signer`,
  );
}
const names = async () => new Set((await holders()).map(({ holder }) => holder));

describe("a killed process whose leases have not lapsed", () => {
  it("leaves chain and lanes to another one at once", async () => {
    const merchant = await newMerchant(world);
    const first = await start();
    await until(async () => (await holders()).length === 1 + LANES, "the first process has every lease");
    const second = await start();
    const before = await holders();
    // given a payment that both processes have seen settled
    const paid = await newPayment(world, merchant);
    expect((await paid.settle({}, second.baseUrl)).body).toMatchObject({ success: true });
    expect(await holders()).toEqual(before);
    // when the first is killed
    await first.stop();
    // then the second takes over, and settles
    const next = await newPayment(world, merchant);
    expect((await next.settle({}, second.baseUrl)).body).toMatchObject({ success: true });
    await until(async () => (await names()).size === 1, "everything has one holder");
    expect(await names()).not.toEqual(new Set(before.map(({ holder }) => holder)));
    await expectAtRest(world);
  });

  it("that only lost the session which shows that it lives does no harm, nor does who thinks it gone", async () => {
    const merchant = await newMerchant(world);
    const [, second] = services;
    await start();
    for (let round = 0; round < 3; round += 1) {
      await world.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'farebox-presence'`,
      );
      const paid = await newPayment(world, merchant);
      expect((await paid.settle({}, second?.baseUrl)).body).toMatchObject({ success: true });
    }
    await expectAtRest(world);
  });
});
