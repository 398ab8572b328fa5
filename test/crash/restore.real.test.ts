/** The database is lost, and put back as it was at some earlier time: what was paid since is found on the chain. */
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { backupOf, freshDatabase, type TestDatabase } from "../support/db.ts";
import { arrivalsOf, openOrder, sweepsOf, taker } from "../support/deposits.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { newMerchant, newPayer, type RunningHouse, startHouse, until } from "../support/house.ts";
import { merchantWithPayouts } from "../support/payouts.ts";
import { claimOf, ledgerOf, stateOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment, transfer } from "../support/scene.ts";

let dev: DevChain;
let lost: TestDatabase;
let backup: TestDatabase;
let house: RunningHouse;

beforeEach(async () => {
  [dev, lost] = await Promise.all([startDevChain(), freshDatabase()]);
});
afterEach(async () => {
  await house?.stop();
  await backup?.drop();
  await lost?.drop();
  await dev?.stop();
});

const settled = async (payment: Payment, baseUrl: string) => {
  const { body } = await payment.settle({}, baseUrl);
  expect(body).toMatchObject({ success: true });
  return body;
};
/** Where the books moved what was paid: at once, or after they had it as pending, or as money nobody asked for. */
const moved = async (database: TestDatabase, id: string) =>
  new Set((await ledgerOf(database, id)).map((line) => line.replace(/^.* → /, "")));
const approvals = { approvalsAbove: { USDC: "0.005" } };
const laneAddress = () => address(dev.contracts.signers[0]?.address ?? "");
const lanes = (database: TestDatabase) =>
  database.query<{ state: string; next: string }>("SELECT state, next_nonce AS next FROM signer");

it("a payout that left since is not paid twice", async () => {
  house = await startHouse(dev, lost, approvals);
  const payouts = await merchantWithPayouts({ ...house, dev, database: lost, stop: house.stop });
  const held = () => dev.chain.tokenBalance(dev.usdc, payouts.recipient, "latest");
  await payouts.payOut("po_waiting", 6_000n);
  await house.stop();
  backup = await backupOf(lost);
  // given that it was approved after the backup
  house = await startHouse(dev, lost, approvals);
  expect(await house.house.approvals.give("po_waiting")).toBe(true);
  await until(async () => (await held()) === 6_000n, "it leaves");
  await expectAtRest({ dev, database: lost, baseUrl: house.baseUrl });
  await house.stop();
  // when the backup takes its place, where nobody has approved it
  const away = await startHouse(dev, backup, { ...approvals, role: "web" });
  await away.house.operate.afterRestore();
  // nor can anybody take it back before that is seen
  const cancelled = backup.db.tx((tx) => away.house.facilitator.outgoing.cancel(tx, "po_waiting"));
  expect(await cancelled).toBe(false);
  await away.stop();
  house = await startHouse(dev, backup, approvals);
  const left = () =>
    backup.query<{ hash: string; log_index: number }>(
      "SELECT '0x' || encode(tx_hash, 'hex') AS hash, log_index FROM chain_transfer WHERE amount = 6000 AND canonical",
    );
  await until(async () => (await left()).length > 0, "what left is seen");
  const [seen] = await left();
  // It is an order of ours, and nobody's to book.
  expect(await house.house.operate.strayOutflows()).toEqual([]);
  const outflow = {
    chain: "local",
    transaction: seen?.hash,
    logIndex: seen?.log_index,
  };
  const word = { merchantId: null, reason: "unknown" };
  expect(await house.house.operate.bookOutflow(outflow as never, word)).toBe("not-stray");
  const { outgoing } = house.house.facilitator;
  const stateOf = async () => (await outgoing.status(["po_waiting"]))[0]?.state;
  // The block is final already, and no other one comes.
  await until(async () => (await stateOf()) === "final", "it is seen to have left");
  // then it is the transfer that had left
  await expectAtRest({ dev, database: backup, baseUrl: house.baseUrl });
  expect(await held()).toBe(6_000n);
  expect(await ledgerOf(backup, "po_waiting")).toEqual(await ledgerOf(lost, "po_waiting"));
  expect((await house.house.reconcile()).map(({ status }) => status)).toEqual(["equal", "equal", "equal"]);
});

const patient = { settings: { sweepPatienceSeconds: { local: 3_600, elsewhere: 3_600 } } };

/** An order whose deposit of 600 was swept after the backup: by its first sweep, or by its second once the first had
 *  expired. Before it `untaken` came, which was left alone. */
async function sweptSinceBackup({ hasExpired = false, untaken = 0n } = {}) {
  const at = (database: TestDatabase) => ({ ...house, dev, database, stop: house.stop });
  house = await startHouse(dev, lost);
  const order = await openOrder(at(lost));
  const held = () => dev.chain.tokenBalance(dev.usdc, order.address, "latest");
  const send = async (database: TestDatabase, amount: bigint) => {
    const known = (await arrivalsOf(at(database), order.subject)).length;
    await transfer(at(database), (await newPayer(dev, amount)).address, order.address, amount);
    await until(async () => (await arrivalsOf(at(database), order.subject)).length > known, "it arrives");
  };
  if (untaken > 0n) await send(lost, untaken);
  await send(lost, 600n);
  await taker(at(lost), order, ({ amount }) => amount === 600n).turn();
  await house.stop();
  backup = await backupOf(lost);
  if (hasExpired) {
    house = await startHouse(dev, lost, patient);
    const sweeps = () => sweepsOf(at(lost), order.address);
    await dev.anvil.mine(3);
    await until(async () => (await sweeps()).length === 1, "it is signed");
    await dev.anvil.rpc("evm_increaseTime", [7_300]);
    await until(async () => {
      await dev.anvil.mine();
      return (await sweeps()).length === 2;
    }, "it is signed anew");
    await house.stop();
  }
  house = await startHouse(dev, lost);
  await dev.anvil.mine(3);
  await until(async () => (await held()) === untaken, "it is swept");
  await expectAtRest({ dev, database: lost, baseUrl: house.baseUrl });
  await house.stop();
  return { at, order, held, send };
}

it.each([
  { what: "its first", hasExpired: false, seq: 0 },
  { what: "its second, after one that expired", hasExpired: true, seq: 1 },
])(
  "a sweep that happened since ($what) is known by its authorization, and its money is booked once",
  async ({ hasExpired, seq }) => {
    const { at, order } = await sweptSinceBackup({ hasExpired });
    // when the backup takes its place, and the difference was seen before anything is signed
    await backup.query(
      `INSERT INTO reconciliation (chain_id, asset, block_number, status, ledger, unexplained)
     VALUES ($1, 'USDC@local', 0, 'different', 0, 1)`,
      [dev.anvil.chainId],
    );
    await dev.anvil.mine(3);
    house = await startHouse(dev, backup);
    await until(async () => (await sweepsOf(at(backup), order.address))[0]?.state === "final", "it is known");
    // then the money that had been nobody's is that of the deposit, and the books are the chain's
    await expectAtRest({ dev, database: backup, baseUrl: house.baseUrl });
    expect(await sweepsOf(at(backup), order.address)).toMatchObject([{ seq, amount: "600", open: false }]);
    expect(await ledgerOf(backup, order.orderId)).toEqual(["single sweep unmatched → deposit 600"]);
    expect((await house.house.reconcile()).map(({ status }) => status)).not.toContain("different");
  },
);

it.each([
  { what: "came since", untaken: 0n, since: 50n },
  { what: "was there before", untaken: 50n, since: 0n },
])(
  "what a sweep that the backup does not know left on an address ($what) goes with the next one",
  async ({ untaken, since }) => {
    const { at, order, held, send } = await sweptSinceBackup({ untaken });
    const away = await startHouse(dev, backup, { role: "web" });
    await away.house.operate.afterRestore();
    await away.stop();
    // given that more is taken before anything is signed
    await backup.db.tx(async (tx) => {
      await tx.execute(sql`SELECT FROM deposit_order FOR UPDATE`);
      house = await startHouse(dev, backup);
      if (since > 0n) await send(backup, since);
      await taker(at(backup), order).turn();
      const { number } = await dev.chain.head();
      await until(async () => {
        await dev.anvil.mine();
        const [row] = await backup.query<{ at: string }>("SELECT finalized_number AS at FROM observer");
        return Number(row?.at) >= number;
      }, "it is final");
      expect(await sweepsOf(at(backup), order.address)).toEqual([]);
    });
    await until(async () => (await sweepsOf(at(backup), order.address))[0]?.state === "final", "it is known");
    await house.house.reconcile();
    await until(async () => (await held()) === 0n, "the rest is swept");
    await expectAtRest({ dev, database: backup, baseUrl: house.baseUrl });
    expect(await sweepsOf(at(backup), order.address)).toMatchObject([
      { seq: 0, amount: "600", open: false },
      { seq: 1, amount: "50", open: false },
    ]);
    expect((await house.house.reconcile()).map(({ status }) => status)).not.toContain("different");
  },
);

it("no nonce is used twice, no deposit address is given twice, and who paid since is not asked again", async () => {
  house = await startHouse(dev, lost);
  const merchant = await newMerchant(house);
  const place = { dev, database: lost, baseUrl: house.baseUrl };
  const before = await newPayment(place, merchant);
  const paidBefore = await settled(before, house.baseUrl);
  await expectAtRest(place);
  await house.stop();
  backup = await backupOf(lost);

  // given a payment, and a deposit address, that the backup does not know
  house = await startHouse(dev, lost);
  const since = await newPayment({ ...place, baseUrl: house.baseUrl }, merchant, {
    resource: before.resource,
  });
  const paidSince = await settled(since, house.baseUrl);
  await expectAtRest(place);
  await lost.query("SELECT nextval('deposit_address_index') FROM generate_series(1, 3)");
  await house.stop();

  // when the backup takes the place of what was lost
  const known = await lanes(backup);
  await backup.query("UPDATE signer SET state = 'quarantined'");
  const away = await startHouse(dev, backup, { role: "web" });
  const done = await away.house.operate.afterRestore();
  await away.stop();
  expect(done).toMatchObject({
    lanes: [{ chain: "local", before: Number(known[0]?.next), nonce: Number((await lanes(lost))[0]?.next) }],
    skipped: { first: 0, last: 99_999 },
  });
  // a lane that was quarantined stays so, until an operator resumes it
  expect(await lanes(backup)).toMatchObject([{ state: "quarantined" }]);
  house = await startHouse(dev, backup);
  expect(await house.house.operate.resumeLane({ chain: "local", address: laneAddress() })).not.toBeNull();

  // then what it knew is answered as before, and what it did not know is credited to whoever shows it, from the chain
  const there = { dev, database: backup, baseUrl: house.baseUrl };
  expect((await before.settle({}, house.baseUrl)).body).toMatchObject({
    transaction: paidBefore.transaction,
  });
  expect(await claimOf(backup, since.nonce)).toBeNull();
  const again = await settled(since, house.baseUrl);
  expect(again.transaction).toBe(paidSince.transaction);
  await until(async () => (await stateOf(backup, since.nonce)) === "final", "it is final");
  expect(await moved(backup, again.extra.paymentId)).toEqual(await moved(lost, paidSince.extra.paymentId));
  await settled(await newPayment(there, merchant, { resource: before.resource }), house.baseUrl);
  expect(await lanes(backup)).toMatchObject([{ state: "active" }]);
  expect(await house.house.operate.afterRestore()).toBeNull();
  await expectAtRest(there);
});
