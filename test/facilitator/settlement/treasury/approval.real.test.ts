/** What leaves the treasury only when an operator has approved it. */
import { beforeAll, expect, it } from "vitest";
import { resumeMerchant, suspendMerchant } from "#api";
import { systemClock } from "#kernel/system";
import { sharedWorld } from "../../../support/house.ts";
import { merchantWithPayouts } from "../../../support/payouts.ts";
import { ledgerOf } from "../../../support/records.ts";
import { expectAtRest } from "../../../support/scene.ts";

const world = sharedWorld({ approvalsAbove: { USDC: "0.005" }, dailyLimits: { USDC: "0.02" } });
let payouts: Awaited<ReturnType<typeof merchantWithPayouts>>;
beforeAll(async () => {
  payouts = await merchantWithPayouts(world);
});

const list = async () => (await world.house.approvals.list()).map(({ id }) => id);
const give = (id: string) => world.house.approvals.give(id);
const seen = async () => {
  const [chain] = (await world.house.sources.health()).chains;
  return [chain?.unapproved, chain?.limited];
};

it("what is more waits in sight and reserved, holds up nothing else, and leaves once when it is approved", async () => {
  await payouts.payOut("po_large", 5_001n);
  await payouts.payOut("po_usual", 5_000n);
  await payouts.leaves("po_usual");
  expect([await payouts.stateOf("po_large"), await list(), await seen()]).toEqual([
    "queued",
    ["po_large"],
    [["USDC@local"], []],
  ]);
  expect(await ledgerOf(world.database, "po_large")).toHaveLength(1);
  expect(await world.dev.chain.tokenBalance(world.dev.usdc, payouts.recipient, "latest")).toBe(5_000n);
  expect(await give("po_large")).toBe(true);
  await payouts.leaves("po_large");
  await expectAtRest(world);
  expect([await list(), await seen()]).toEqual([[], [[], []]]);
  expect(await ledgerOf(world.database, "po_large")).toHaveLength(3);
  expect(await world.dev.chain.tokenBalance(world.dev.usdc, payouts.recipient, "latest")).toBe(10_001n);
});

it("what is taken back, unknown, or gone waits for nothing", async () => {
  await payouts.payOut("po_taken_back", 6_000n);
  const { outgoing } = world.house.facilitator;
  expect(await world.database.db.tx((tx) => outgoing.cancel(tx, "po_taken_back"))).toBe(true);
  for (const id of ["po_taken_back", "po_unknown", "po_large", "po_usual"])
    expect(await give(id)).toBe(false);
  expect(await payouts.stateOf("po_taken_back")).toBe("cancelled");
});

it("what has left without one, before the books were put back, waits for none", async () => {
  await payouts.payOut("po_departed", 6_000n);
  expect(await list()).toEqual(["po_departed"]);
  await world.database.query(
    `UPDATE outgoing SET claim_key = (SELECT claim_key FROM outgoing WHERE id = 'po_usual') WHERE id = 'po_departed'`,
  );
  expect([await list(), await seen(), await give("po_departed")]).toEqual([[], [[], []], false]);
});

it("an approval does not lift the limit of a day", async () => {
  await payouts.payOut("po_beyond", 15_000n);
  expect(await seen()).toEqual([["USDC@local"], []]);
  expect(await give("po_beyond")).toBe(true);
  expect([await payouts.stateOf("po_beyond"), await seen()]).toEqual(["queued", [[], ["USDC@local"]]]);
});

it("of a merchant that is suspended, payouts that are not signed wait, approved or not; refunds do not", async () => {
  const { database, dev, house } = world;
  const operator = { db: house.db, clock: systemClock, newId: house.newId };
  const { merchant, recipient } = payouts;
  // given one that only the day's limit holds back, and a refund
  expect([await payouts.stateOf("po_beyond"), await list()]).toEqual(["queued", []]);
  const refund = { id: "re_beyond", kind: "refund", merchantId: merchant.id, chainId: 31_337 } as const;
  await database.db.tx((tx) =>
    house.facilitator.outgoing.queue(tx, { ...refund, recipient, token: dev.usdc, amount: 15_000n }),
  );
  expect(await give("re_beyond")).toBe(true);
  const suspension = { merchantId: merchant.id, reason: "Nothing was sent." };
  expect(await suspendMerchant(operator, suspension)).toBe(1);
  expect(await list()).toEqual(["po_beyond"]);
  expect(await ledgerOf(database, "po_beyond")).toHaveLength(1);
  // a resume lets it sell, and leaves the word on what waits to the operator
  expect([await resumeMerchant(operator, merchant.id), await list()]).toEqual([true, ["po_beyond"]]);
  expect([await give("po_beyond"), await list()]).toEqual([true, []]);
});
