/** What lies on deposit addresses goes into the treasury by itself, and books equal the chain in both places. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { address as addressOf, type Hash, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { newKey } from "../../../support/authorization.ts";
import { freshDatabase } from "../../../support/db.ts";
import {
  arrivalsOf,
  type DepositPlace,
  onDepositAddresses,
  openOrder,
  sweepsOf,
  type TestOrder,
  taker,
} from "../../../support/deposits.ts";
import { startDevChain } from "../../../support/dev-chain.ts";
import {
  books,
  newMerchant,
  newPayer,
  rowOf,
  startHouse,
  startWorld,
  until,
  type World,
} from "../../../support/house.ts";
import { factsOf, ledgerOf, transactionsSent } from "../../../support/records.ts";
import { expectAtRest, newPayment, transfer } from "../../../support/scene.ts";

const NEVER = { sweepPatienceSeconds: { local: 3_600, elsewhere: 3_600 } };
let world: World;
/** Its sweeps go with a payment or not at all. */
let patient: World;
beforeAll(async () => {
  [world, patient] = await Promise.all([startWorld(), startWorld({ settings: NEVER })]);
});
afterAll(() => Promise.all([world.stop(), patient.stop()]));

const usdcOn = ({ dev }: DepositPlace, account: TestOrder["address"]) =>
  dev.chain.tokenBalance(dev.usdc, account, "latest");
/** Status of each comparison, by asset and place. */
async function compared({ house }: DepositPlace) {
  const reports = await house.reconcile();
  return Object.fromEntries(reports.map(({ asset, place, status }) => [`${asset} ${place}`, status]));
}

/** An order that was sent `amount`, which is taken and final. */
async function paid(place: DepositPlace, amount: bigint): Promise<TestOrder> {
  const order = await openOrder(place);
  await sendTo(place, order, amount);
  await taker(place, order).turn();
  await untilFinal(place);
  return order;
}
async function sendTo(place: DepositPlace, { subject, address }: TestOrder, amount: bigint): Promise<void> {
  const known = (await arrivalsOf(place, subject)).length;
  const payer = await newPayer(place.dev, amount);
  await transfer(place, payer.address, address, amount);
  await until(async () => (await arrivalsOf(place, subject)).length > known, "it arrives");
}
async function untilFinal({ dev, database }: DepositPlace): Promise<void> {
  const { number } = await dev.chain.head();
  await until(async () => {
    const [row] = await database.query<{ at: string }>("SELECT finalized_number AS at FROM observer");
    if (Number(row?.at) >= number) return true;
    await dev.anvil.mine();
    return false;
  }, "it is final");
}

function nonceOf({ address, token }: TestOrder, seq: number): Hash {
  const uint = (value: number) => Buffer.from(value.toString(16).padStart(64, "0"), "hex");
  const { chainId } = rowOf(world.dev);
  return sha256("farebox/sweep/v1", uint(chainId), toBytes(token), toBytes(address), uint(seq));
}

describe("a sweep", () => {
  it("takes what was booked and is final, with the address's own signature, and no gas of its", async () => {
    const order = await openOrder(world);
    await sendTo(world, order, 600n);
    const taking = taker(world, order);
    await taking.turn();
    expect(await sweepsOf(world, order.address)).toEqual([]);
    await untilFinal(world);
    await until(async () => (await usdcOn(world, order.address)) === 0n, "it is swept");
    await until(async () => (await ledgerOf(world.database, order.orderId)).length > 0, "it is booked");
    expect(await ledgerOf(world.database, order.orderId)).toEqual(["pending sweep treasury → deposit 600"]);
    // in the last final block it lies on its address still, whether or not that is watched
    const watch = (until: string) =>
      world.database.query("UPDATE deposit_order SET watched_until = now() + $1::interval", [until]);
    for (const until of ["-1 day", "90 days"]) {
      await watch(until);
      expect(Object.values(await compared(world))).not.toContain("different");
    }
    await expectAtRest(world);
    expect((await ledgerOf(world.database, order.orderId)).slice(1)).toEqual([
      "post sweep treasury → deposit 600",
    ]);
    const [sweep, ...more] = await sweepsOf(world, order.address);
    expect(more).toEqual([]);
    expect(sweep).toMatchObject({ seq: 0, open: false, state: "final", amount: "600" });
    expect(await onDepositAddresses(world)).toBe(0n);
    expect(await world.dev.chain.nonce(order.address, "latest")).toBe(0);
    expect(await compared(world)).toMatchObject({
      "USDC@local treasury": "equal",
      "USDC@local deposits": "equal",
    });
    // it is nobody's payment: told to nobody, and not shown
    expect(await factsOf(world.database, order.orderId)).toEqual([]);
    expect(await world.house.facilitator.status(sweep?.claim_id ?? "")).toBeNull();
    const nonce = nonceOf(order, 0);
    const looked = await world.house.facilitator.lookup({
      ...{ by: "nonce", network: rowOf(world.dev).network, asset: world.dev.usdc },
      ...{ payer: order.address, nonce },
    });
    expect(looked).toEqual({ kind: "not-found" });
    const [claim] = await world.database.query<{ nonce: Hash }>("SELECT nonce FROM claim WHERE id = $1", [
      sweep?.claim_id,
    ]);
    expect(claim?.nonce).toBe(nonce);
  });

  it("takes all that waits on an address at once, and what comes later with the next number", async () => {
    const order = await openOrder(world);
    await sendTo(world, order, 10n);
    await sendTo(world, order, 20n);
    // both final: else the first is swept before the second may be
    await untilFinal(world);
    const taking = taker(world, order);
    await taking.turn();
    await expectAtRest(world);
    await until(async () => (await usdcOn(world, order.address)) === 0n, "both are swept");
    await sendTo(world, order, 30n);
    await taking.turn();
    await untilFinal(world);
    await until(async () => (await sweepsOf(world, order.address)).length === 2, "it is swept again");
    await expectAtRest(world);
    expect(await sweepsOf(world, order.address)).toMatchObject([
      { seq: 0, amount: "30", state: "final" },
      { seq: 1, amount: "30", state: "final" },
    ]);
    expect(await onDepositAddresses(world)).toBe(0n);
  });

  it("leaves alone what nobody has taken", async () => {
    const order = await openOrder(world);
    await sendTo(world, order, 77n);
    await untilFinal(world);
    await paid(world, 1n);
    await until(async () => (await onDepositAddresses(world)) === 0n, "what was taken is swept");
    expect(await sweepsOf(world, order.address)).toEqual([]);
    expect(await compared(world)).toMatchObject({ "USDC@local deposits": "equal" });
    await taker(world, order).turn();
    await until(async () => (await usdcOn(world, order.address)) === 0n, "then it is");
    await expectAtRest(world);
  });
});

describe("payments and sweeps", () => {
  it("a sweep that may wait rides in a payment's transaction", async () => {
    const order = await paid(patient, 500n);
    await until(async () => (await sweepsOf(patient, order.address)).length === 1, "it is signed");
    const before = await transactionsSent(patient.dev);
    // it does not go alone
    await patient.dev.anvil.mine(5);
    await untilFinal(patient);
    expect(await sweepsOf(patient, order.address)).toMatchObject([{ state: "claimed" }]);
    const merchant = await newMerchant(patient);
    const settled = await (await newPayment(patient, merchant)).settle();
    expect(settled.body).toMatchObject({ success: true });
    await expectAtRest(patient);
    expect(await sweepsOf(patient, order.address)).toMatchObject([
      { state: "final", included_tx: settled.body.transaction },
    ]);
    expect(await transactionsSent(patient.dev)).toBe(before + 1);
  });

  it("many that have waited long enough go together", async () => {
    const orders = await Promise.all([1, 2, 3].map(() => openOrder(patient)));
    for (const order of orders) {
      await sendTo(patient, order, 9n);
      await taker(patient, order).turn();
    }
    await untilFinal(patient);
    const signed = async () =>
      (await Promise.all(orders.map(({ address }) => sweepsOf(patient, address)))).flat();
    await until(async () => (await signed()).length === 3, "all are signed");
    expect((await signed()).map(({ state }) => state)).toEqual(["claimed", "claimed", "claimed"]);
    // somebody with less patience sends what was signed
    const other = await startHouse(patient.dev, patient.database, {
      settings: { sweepPatienceSeconds: { local: 0, elsewhere: 0 } },
      lanes: 2,
    });
    try {
      await until(async () => (await signed()).every(({ state }) => state !== "claimed"), "all have gone");
      await expectAtRest(patient);
    } finally {
      await other.stop();
    }
    expect(new Set((await signed()).map(({ included_tx }) => included_tx)).size).toBe(1);
    expect(await onDepositAddresses(patient)).toBe(0n);
  });
});

describe("an order to pay more than the treasury has", () => {
  it("is signed when the money is swept, and the sweep does not wait for company then", async () => {
    // given money that waits on its address, and must go back
    const order = await openOrder(patient);
    await sendTo(patient, order, 5_000_000n);
    await taker(patient, order).turn();
    const { outgoing } = patient.house.facilitator;
    const { id: merchantId } = await newMerchant(patient);
    const back = { id: "ret_wanted", kind: "return" as const, merchantId, token: order.token };
    const recipient = newKey().address;
    const { chainId } = rowOf(patient.dev);
    const from = { source: "clearing" as const, subject: order.subject };
    await patient.database.db.tx((tx) =>
      outgoing.queue(tx, { ...back, ...from, chainId, recipient, amount: 5_000_000n }),
    );
    const state = async () => (await outgoing.status([back.id]))[0]?.state;
    // then it waits, though nothing else keeps it, until the sweep is final
    await patient.dev.anvil.mine();
    await until(async () => {
      // Asked first: the sweep may be final before the second question is answered.
      const before = await state();
      const [sweep] = await sweepsOf(patient, order.address);
      if (sweep?.state === "included" || sweep?.state === "final") return true;
      expect(before).toBe("queued");
      await patient.dev.anvil.mine();
      return false;
    }, "it is swept");
    await until(async () => {
      await patient.dev.anvil.mine();
      return (await state()) === "final";
    }, "it is sent");
    expect(await usdcOn(patient, recipient)).toBe(5_000_000n);
    await expectAtRest(patient);
  });
});

describe("a sweep that cannot be sent", () => {
  it("leaves its money to the next number once it has expired, for good", async () => {
    const order = await openOrder(patient);
    await sendTo(patient, order, 80n);
    await taker(patient, order).turn();
    await untilFinal(patient);
    await until(async () => (await sweepsOf(patient, order.address)).length === 1, "it is signed");
    // it waits for a payment that does not come
    await patient.dev.anvil.rpc("evm_increaseTime", [7_300]);
    await until(async () => {
      await patient.dev.anvil.mine();
      return (await sweepsOf(patient, order.address)).length === 2;
    }, "it is signed anew");
    expect(await sweepsOf(patient, order.address)).toMatchObject([
      { seq: 0, state: "expired", open: false, amount: "80" },
      { seq: 1, state: "claimed", open: true, amount: "80" },
    ]);
    expect(await ledgerOf(patient.database, order.orderId)).toEqual([]);
    expect(await usdcOn(patient, order.address)).toBe(80n);
    expect(await compared(patient)).toMatchObject({ "USDC@local deposits": "equal" });
  });
});

/** Last: the books differ for good. */
describe("what lies on an address", () => {
  it("may be more where nobody watches any more: that is no difference", async () => {
    const [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
    const first = await startHouse(dev, database, { settings: NEVER });
    const place = { dev, database, ...first };
    const order = await paid(place, 40n);
    await first.stop();
    await database.query("UPDATE deposit_order SET watched_until = now() - interval '2 days'");
    const later = await startHouse(dev, database, { settings: NEVER });
    try {
      const now = { dev, database, ...later };
      const payer = await newPayer(dev, 5n);
      await transfer(now, payer.address, order.address, 5n);
      await untilFinal(now);
      expect(await arrivalsOf(now, order.subject)).toHaveLength(1);
      expect(await usdcOn(now, order.address)).toBe(45n);
      expect(await compared(now)).toMatchObject({ "USDC@local deposits": "equal" });
    } finally {
      await later.stop();
      await Promise.all([database.drop(), dev.stop()]);
    }
  });

  it("must not be more than the books know while it is watched, also where all was swept", async () => {
    const order = await paid(world, 6n);
    await until(async () => (await usdcOn(world, order.address)) === 0n, "it is swept");
    await expectAtRest(world);
    await sendTo(world, order, 5n);
    await untilFinal(world);
    const isSeen = (seen: boolean) =>
      world.database.query("UPDATE chain_transfer SET canonical = $1 WHERE order_id = $2 AND amount = 5", [
        seen,
        order.orderId,
      ]);
    await isSeen(false);
    expect(await compared(world)).toMatchObject({ "USDC@local deposits": "different" });
    await isSeen(true);
    expect(await compared(world)).toMatchObject({ "USDC@local deposits": "equal" });
    await taker(world, order).turn();
    await untilFinal(world);
    await until(async () => (await usdcOn(world, order.address)) === 0n, "it is swept again");
    await expectAtRest(world);
  });

  it("must not be less: what leaves past us stops that asset", async () => {
    const order = await openOrder(world);
    await sendTo(world, order, 44n);
    await transfer(world, order.address, world.dev.contracts.payer.address, 4n);
    await untilFinal(world);
    const reports = await world.house.reconcile();
    const found = reports.find(({ place, asset }) => place === "deposits" && asset === "USDC@local");
    expect(found).toMatchObject({
      ...{ status: "different", ledger: 0n, waiting: 44n, onChain: 40n, unexplained: 1 },
    });
    // then nothing of that asset is swept; what is of another is
    const eurc = addressOf(world.dev.contracts.assets.EURC);
    await world.dev.administer("mint", [order.address, 3n], eurc);
    await until(async () => (await arrivalsOf(world, order.subject)).length === 2, "both have arrived");
    await taker(world, order).turn();
    await untilFinal(world);
    await until(async () => (await sweepsOf(world, order.address)).length > 0, "one is signed");
    expect(await sweepsOf(world, order.address)).toMatchObject([{ amount: "3" }]);
    const { chains } = (await world.house.sources.health()) ?? { chains: [] };
    expect(chains).toMatchObject([{ chain: "local", differing: ["USDC@local"] }]);
    expect(await books(world.dev, world.database)).toMatchObject({ balanced: true });
  });
});
