/** Gas budgets, hour by hour and second by second: when what was burned is over, and what counts before it is burned. */
import { afterEach, expect, it, onTestFinished } from "vitest";
import { PAYMENT_GAS } from "../../../../facilitator/chain/gas-budgets.ts";
import { chainFaults } from "../../../support/chain-faults.ts";
import { failOnChain, gasOf, gasRows, housesBeside } from "../../../support/gas.ts";
import { gate } from "../../../support/gate.ts";
import {
  newPayer,
  type Payer,
  type RunningHouse,
  sharedMerchant,
  sharedWorld,
  until,
} from "../../../support/house.ts";
import { claimOf } from "../../../support/records.ts";
import { expectAtRest, newPayment, type Payment } from "../../../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());
const houseWith = housesBeside(world);
const { burnOf, payerGasOf } = gasRows(world);
const payment = (given: Parameters<typeof newPayment>[2] = {}) => newPayment(world, merchant, given);

async function settles(paid: Payment, { baseUrl }: Pick<RunningHouse, "baseUrl"> = world) {
  const { body } = await paid.settle({}, baseUrl);
  expect(body).toMatchObject({ success: true });
  return body;
}

/** So much of the hours that have begun passes. */
const passes = (time: string) =>
  Promise.all([
    world.database.query("UPDATE gas_burn SET since = since - $1::interval", [time]),
    world.database.query("UPDATE payer_gas SET since = since - $1::interval, rest_until = rest_until - $1", [
      time,
    ]),
  ]);

it("what was burned counts for an hour from the first of it, and what is burned next begins another", async () => {
  const limit = 10n ** 18n;
  const house = await houseWith({ payable: limit });
  const { resource } = await payment();
  const pay = () => payment({ resource });
  const burned = await gasOf(world.dev, (await settles(await pay())).transaction);
  await until(async () => (await burnOf(resource.id))?.wei === burned, "its gas is booked");
  await world.database.query("UPDATE gas_burn SET wei = $1 WHERE subject = $2", [`${limit}`, resource.id]);
  await passes("59 minutes");
  const next = await pay();
  const { status, headers, body } = await next.settle({}, house.baseUrl);
  expect([status, body.budget]).toEqual([429, "payable"]);
  expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  await passes("1 minute");
  // It asks the rows again within a second or so, and no payment is needed for that.
  await until(
    async () => (await next.verify(house.baseUrl)).body.isValid === true,
    "it has room again",
    5_000,
  );
  const second = await gasOf(world.dev, (await settles(next, house)).transaction);
  await until(async () => (await burnOf(resource.id))?.wei === second, "it is another hour's");
  expect(await burnOf(resource.id)).toEqual({ wei: second, wasted: 0n, items: 1 });
  // what comes within the hour is added to it, and does not make it longer
  await passes("50 minutes");
  const third = await gasOf(world.dev, (await settles(await pay())).transaction);
  await until(async () => (await burnOf(resource.id))?.wei === second + third, "it is this hour's");
  await passes("10 minutes");
  const fourth = await gasOf(world.dev, (await settles(await pay())).transaction);
  await until(async () => (await burnOf(resource.id))?.wei === fourth, "that hour is over, too");
  await expectAtRest(world);
});

/** It has the money for one payment, which fails. */
async function fails(payer: Payer, times: number): Promise<void> {
  await world.dev.administer("mint", [payer.address, 10_000n]);
  await failOnChain(world, faults, await payment({ payer }));
  await until(async () => (await payerGasOf(payer))?.failures === times, `failure ${times} is booked`);
}

it("who has paid is not held to the failures of an earlier hour, nor forgotten to have paid", async () => {
  const payer = await newPayer(world.dev, 10_000n);
  await settles(await payment({ payer }));
  await until(async () => (await payerGasOf(payer)) !== undefined, "its gas is booked");
  await fails(payer, 1);
  await fails(payer, 2);
  await passes("1 hour");
  await fails(payer, 1);
  expect(await payerGasOf(payer)).toMatchObject({ has_paid: true, rests: false });
  await fails(payer, 2);
  await fails(payer, 3);
  expect(await payerGasOf(payer)).toMatchObject({ has_paid: true, rests: true });
  await expectAtRest(world);
});

it("what this process claimed counts at once, and from the rows as long as it is under way", async () => {
  const fee = 40_000_000_000n;
  const house = await houseWith({ payable: (3n * PAYMENT_GAS * fee) / 2n });
  const { resource } = await payment();
  // The tip of a transaction that was mined is known: one that is not would count as much as the fee.
  await settles(await payment({ resource }));
  await until(async () => (await burnOf(resource.id)) !== undefined, "its gas is booked");
  const [first, second] = [await payment({ resource }), await payment({ resource })];
  await world.dev.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
  await world.dev.anvil.rpc("anvil_mine", ["0x1"]);
  const held = gate();
  onTestFinished(held.open);
  faults.set({
    send: (real) => async (raw) => {
      await held.passed;
      return real.send(raw);
    },
  });
  const settled = first.settle({}, house.baseUrl);
  await until(async () => (await claimOf(world.database, first.nonce)) !== null, "it is claimed");
  const refused = async () => (await second.settle({}, house.baseUrl)).status;
  expect(await refused()).toBe(429);
  await until(
    async () => (await claimOf(world.database, first.nonce))?.state === "submitting",
    "it is signed",
  );
  // Longer than anything read before is remembered.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await refused()).toBe(429);
  held.open();
  expect((await settled).body).toMatchObject({ success: true });
  await expectAtRest(world);
  expect(await claimOf(world.database, second.nonce)).toBeNull();
});
