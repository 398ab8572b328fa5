/** Gas keys that run dry, on a real chain. */
import { expect, it } from "vitest";
import type { LogFields } from "#kernel/log";
import { silentLog } from "../../../support/dev-chain.ts";
import { get, newMerchant, sharedWorld, until } from "../../../support/house.ts";
import { attemptsOf, stateOf } from "../../../support/records.ts";
import { expectAtRest, newPayment } from "../../../support/scene.ts";

const logged: (readonly [LogFields, string])[] = [];
const log = { ...silentLog, error: (fields: LogFields, text: string) => void logged.push([fields, text]) };
const PLENTY = "0x56bc75e2d63100000"; // 100 ether
const LITTLE = "0x5f5e100"; // nothing, at any fee that a chain asks

const world = sharedWorld({ lanes: 2, log, settings: { maxWaitMs: 3_000 } });

const fund = (lane: string | undefined, wei: string) => world.dev.anvil.rpc("anvil_setBalance", [lane, wei]);
const networks = async () => (await get(world.baseUrl, "/x402/supported")).body.kinds.length;
const lanes = async () => {
  const { status, body } = await get(world.baseUrl, "/health/ready");
  expect(status).toBe(200);
  return body.checks.chains[0].lanes as readonly { address: string; isLowOnGas: boolean; gasWei: string }[];
};
const lowLanes = async () => (await lanes()).filter(({ isLowOnGas }) => isLowOnGas).length;

it("a lane that is low takes nothing new; when all are, the chain leaves supported, until they are funded", async () => {
  const [first, second] = world.dev.contracts.signers.map(({ address }) => address);
  const merchant = await newMerchant(world);
  await until(async () => (await lanes()).every(({ gasWei }) => gasWei !== null), "both have been read");
  expect([await lowLanes(), await networks()]).toEqual([0, 1]);

  // one is low: the other one pays
  await fund(first, LITTLE);
  await until(async () => (await lowLanes()) === 1, "the first is low");
  expect(logged).toMatchObject([
    [{ chain: "local", lane: first?.toLowerCase() }, expect.stringContaining("low on gas")],
  ]);
  const spent = () => world.dev.chain.nonce(world.dev.lane, "latest");
  const before = await spent();
  const paid = await newPayment(world, merchant);
  expect((await paid.settle()).body).toMatchObject({ success: true });
  expect([await spent(), await networks()]).toEqual([before, 1]);

  // both are: what comes waits, and nobody is told that we can settle here
  await fund(second, LITTLE);
  await until(async () => (await networks()) === 0, "the chain leaves supported");
  expect(await lowLanes()).toBe(2);
  const waiting = await newPayment(world, merchant);
  expect((await waiting.settle()).body).toMatchObject({ errorReason: "settlement_pending", transaction: "" });
  expect(await attemptsOf(world.database, waiting.nonce)).toEqual([]);

  // funded, they go on by themselves
  await fund(first, PLENTY);
  await until(async () => (await networks()) === 1, "the chain is back");
  await expectAtRest(world);
  expect(await stateOf(world.database, waiting.nonce)).toBe("final");
  expect(await lowLanes()).toBe(1);
});
