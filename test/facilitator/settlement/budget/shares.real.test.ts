/** Whose budgets a transaction's gas counts against, and how much of it. */
import { afterEach, expect, it } from "vitest";
import { authorize, devDomain, newKey } from "../../../support/authorization.ts";
import { chainFaults, holdDispatch } from "../../../support/chain-faults.ts";
import { openOrder } from "../../../support/deposits.ts";
import { gasOf, gasRows } from "../../../support/gas.ts";
import { newPayer, rowOf, sharedMerchant, sharedWorld, until } from "../../../support/house.ts";
import { claimOf } from "../../../support/records.ts";
import { claimedAndHeld, expectAtRest, newPayment, submitAsStranger } from "../../../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());
const { burnOf, payerGasOf } = gasRows(world);
const payment = (given: Parameters<typeof newPayment>[2] = {}) => newPayment(world, merchant, given);
const sum = (parts: readonly bigint[]) => parts.reduce((total, part) => total + part, 0n);

it("what one transaction carries shares its gas in equal parts", async () => {
  const resource = await merchant.register();
  const paid = await Promise.all([1, 2, 3, 4].map(() => payment({ resource })));
  const dispatch = holdDispatch(faults);
  const settling = paid.map((each) => each.settle());
  for (const each of paid) await claimedAndHeld(world, each, dispatch);
  dispatch.letGo();
  const transactions = (await Promise.all(settling)).map(({ body }) => body.transaction);
  await expectAtRest(world);
  // the first may have been taken before the others came
  expect(new Set(transactions).size).toBeLessThan(4);
  const parts = await Promise.all(
    transactions.map(async (transaction) => {
      const carried = transactions.filter((each) => each === transaction).length;
      return (await gasOf(world.dev, transaction)) / BigInt(carried);
    }),
  );
  const burned = await Promise.all(paid.map(async ({ payer }) => (await payerGasOf(payer))?.wei));
  expect(burned).toEqual(parts);
  for (const subject of [resource.id, merchant.id, ""])
    expect(await burnOf(subject)).toEqual({ wei: sum(parts), wasted: 0n, items: 4 });
});

it("of our own payments only the chain's budget hears", async () => {
  const before = [await burnOf(merchant.id), await burnOf("")];
  const { treasury, chainId } = rowOf(world.dev);
  const order = { id: "po_own", kind: "payout", merchantId: merchant.id, chainId, amount: 100n } as const;
  const to = { token: world.dev.usdc, recipient: newKey().address };
  const { outgoing } = world.house.facilitator;
  await world.database.db.tx((tx) => outgoing.queue(tx, { ...order, ...to }));
  const status = async () => (await outgoing.status([order.id]))[0];
  await until(async () => (await status())?.state === "sent", "it leaves");
  await expectAtRest(world);
  const wei = await gasOf(world.dev, (await status())?.transaction ?? "0x");
  expect(await payerGasOf({ address: treasury, key: "0x" })).toBeUndefined();
  expect(await burnOf(order.id)).toBeUndefined();
  expect(await burnOf(merchant.id)).toEqual(before[0]);
  expect(await burnOf("")).toEqual({
    wei: (before[1]?.wei ?? 0n) + wei,
    wasted: 0n,
    items: (before[1]?.items ?? 0) + 1,
  });
});

for (const [what, value, elsewhere] of [
  ["less", 1n, false],
  ["for something else", 10_000n, true],
] as const)
  it(`it is the payer's failure where the same nonce paid ${what} first`, async () => {
    const paid = await payment({ payer: await newPayer(world.dev, 20_000n) });
    const to = elsewhere ? (await openOrder(world)).address : rowOf(world.dev).treasury;
    const { nonce, payer } = paid;
    const other = await authorize({ domain: devDomain(world.dev.usdc), key: payer.key, to, value, nonce });
    faults.set({
      send: (real) => async (raw) => {
        faults.clear();
        await submitAsStranger(world, other.call);
        return real.send(raw);
      },
    });
    expect((await paid.settle()).body).toMatchObject({ success: false });
    await until(async () => (await payerGasOf(payer)) !== undefined, "its gas is booked");
    const burned = await payerGasOf(payer);
    expect(burned).toMatchObject({ failures: 1, has_paid: false });
    expect(burned?.wasted_wei).toBe(burned?.wei);
    expect((await claimOf(world.database, nonce))?.credit_state).toBe("none");
    await expectAtRest(world);
  });

it("what was moved and waits for its depth is gone from a payer's balance already, and its gas is burned", async () => {
  // given a payment so dear that it is credited in a final block
  const payer = await newPayer(world.dev, 10_000_010_000n);
  const dear = await payment({ payer, dollars: 10_000n });
  const settling = dear.settle();
  await until(
    async () => (await world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")) === 10_000n,
    "it is moved",
  );
  expect((await claimOf(world.database, dear.nonce))?.state).toBe("submitting");
  // then the rest can be spent
  const rest = await payment({ payer });
  await until(async () => (await rest.verify()).body.isValid === true, "the rest is there", 5_000);
  expect((await claimOf(world.database, dear.nonce))?.state).toBe("submitting");
  expect((await rest.settle()).body).toMatchObject({ success: true });
  await world.dev.anvil.mine(3);
  expect((await settling).body).toMatchObject({ success: true });
  await expectAtRest(world);
});
