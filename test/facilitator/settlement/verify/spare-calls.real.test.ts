/** Calls of a chain's endpoints that are kept for what moves money: who only asks is told to come back. */
import { afterEach, expect, it } from "vitest";
import { newKey } from "../../../support/authorization.ts";
import { chainFaults } from "../../../support/chain-faults.ts";
import { post, sharedMerchant, sharedWorld } from "../../../support/house.ts";
import { claimOf, ledgerOf } from "../../../support/records.ts";
import { expectAtRest, newPayment } from "../../../support/scene.ts";

const refusals: string[] = [];
const meter = {
  count: (name: string, { chain = "" }: Readonly<Record<string, string>> = {}) =>
    void (name === "rpc_refusals" && refusals.push(chain)),
  time: () => {},
};

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap, meter });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const keepAll = () => faults.set({ hasSpareCalls: () => () => false });

it("verify is told to come back in a second, and blames nobody; settle goes on", async () => {
  const paid = await newPayment(world, merchant);
  keepAll();
  const refused = await paid.verify();
  expect(refused).toMatchObject({
    status: 429,
    body: { code: "rate_limited", isValid: false, invalidReason: "unexpected_verify_error" },
  });
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.body.detail).toContain("the endpoints of local are asked as often as they may be");
  expect(refusals.splice(0)).toEqual(["local"]);
  expect(await claimOf(world.database, paid.nonce)).toBeNull();
  const { body } = await paid.settle();
  expect(body).toMatchObject({ success: true });
  await expectAtRest(world);
  expect(await ledgerOf(world.database, body.extra.paymentId)).toEqual([
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ]);
  // what our rows say is said all the same
  expect(await paid.verify()).toMatchObject({
    status: 200,
    body: { isValid: false, invalidReason: "duplicate_settlement" },
  });
  expect(refusals).toEqual([]);
});

it("a signature that only the code behind the payer could judge is not looked at, nor called forged", async () => {
  const { resource, body } = await newPayment(world, merchant);
  const { payload } = body.paymentPayload;
  const authorization = { ...payload.authorization, from: newKey().address };
  const forged = {
    ...body,
    paymentPayload: { ...body.paymentPayload, payload: { ...payload, authorization } },
  };
  const verify = () => post(world.baseUrl, `/x402/resources/${resource.id}/verify`, forged);
  keepAll();
  expect(await verify()).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect(refusals.splice(0)).toEqual(["local"]);
  faults.clear();
  expect(await verify()).toMatchObject({
    status: 200,
    body: { isValid: false, invalidReason: "invalid_exact_evm_signature" },
  });
});
