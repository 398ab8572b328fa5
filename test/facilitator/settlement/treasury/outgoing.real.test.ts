/** Refunds and returns: money that leaves the treasury as payouts do, each with rows of its own. */
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { post as postEntries, resolvePending, templates } from "#ledger";
import { isCheckViolation } from "#store";
import { newKey } from "../../../support/authorization.ts";
import { openOrder } from "../../../support/deposits.ts";
import { books, newMerchant, newPayer, rowOf, sharedWorld, until } from "../../../support/house.ts";
import { factsOf, ledgerOf, waitingForLocks } from "../../../support/records.ts";
import { expectAtRest, newPayment, transfer } from "../../../support/scene.ts";

const world = sharedWorld();

type Order = Parameters<typeof world.house.facilitator.outgoing.queue>[1];
let count = 0;
/** An order to a fresh address. */
function order(over: Pick<Order, "kind" | "merchantId" | "amount"> & Partial<Order>): Order {
  count += 1;
  const { chainId } = rowOf(world.dev);
  return { id: `out_${count}`, chainId, token: world.dev.usdc, recipient: newKey().address, ...over };
}
const outgoing = () => world.house.facilitator.outgoing;
const queue = (wanted: Order) => world.database.db.tx((tx) => outgoing().queue(tx, wanted));
const cancel = (id: string) => world.database.db.tx((tx) => outgoing().cancel(tx, id));
const status = async (id: string) => (await outgoing().status([id]))[0];
const held = (account: Order["recipient"]) => world.dev.chain.tokenBalance(world.dev.usdc, account, "latest");

/** A merchant with 0.009950 USDC that is final; 0.000050 are our fee. */
async function earned() {
  const merchant = await newMerchant(world);
  expect((await (await newPayment(world, merchant)).settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
  return merchant;
}

/** Money in the treasury that belongs to a clearing's payer, and its booking. */
async function sentByPayer(amount: bigint, clearingId: string) {
  const payer = await newPayer(world.dev, amount);
  const txHash = await transfer(world, payer.address, rowOf(world.dev).treasury, amount);
  await expectAtRest(world);
  const asset = "USDC@local";
  const log = { chain: "local", txHash: sha256(txHash), logIndex: 0, blockHash: sha256("any"), booking: 1 };
  const entry = templates.unmatchedMatched({ ...log, asset, clearingId, amount });
  await world.database.db.tx((tx) => postEntries(tx, [entry]));
}

/** While `work` runs the books are said to differ from the chain, so nothing is signed. */
async function withoutSigning<T>(work: () => Promise<T>): Promise<T> {
  await world.database.query(
    `INSERT INTO reconciliation (chain_id, asset, block_number, status, ledger, unexplained)
     VALUES (31337, 'USDC@local', 0, 'different', 0, 1)`,
  );
  try {
    return await work();
  } finally {
    await world.database.query("DELETE FROM reconciliation WHERE block_number = 0");
  }
}

describe("a refund", () => {
  it("reserves the merchant's part and our fee's share, leaves, and is posted when final", async () => {
    const merchant = await earned();
    const before = await books(world.dev, world.database);
    const refund = order({ kind: "refund", merchantId: merchant.id, amount: 4_000n, feeShare: 20n });
    await queue(refund);
    await until(async () => (await held(refund.recipient)) === 4_000n, "the money arrives");
    await until(async () => (await status(refund.id))?.state === "sent", "it is booked as sent");
    expect(await ledgerOf(world.database, refund.id)).toEqual([
      "single net merchant → merchant 3980",
      "single fee fees → merchant 20",
      "pending out merchant → treasury 4000",
    ]);
    await expectAtRest(world);
    expect((await ledgerOf(world.database, refund.id)).slice(3)).toEqual([
      "post out merchant → treasury 4000",
    ]);
    expect(await status(refund.id)).toMatchObject({ state: "final", failure: null });
    expect(await factsOf(world.database, refund.id)).toEqual([
      ...["outgoing.claimed", "outgoing.credited", "outgoing.final"],
    ]);
    const after = await books(world.dev, world.database);
    expect(after.available.posted).toBe(before.available.posted - 3_980n);
    expect(after.fees.posted).toBe(before.fees.posted - 20n);
    expect(after.chain).toBe(before.chain - 4_000n);
  });

  it("is not taken without the money", async () => {
    const merchant = await earned();
    const refund = order({ kind: "refund", merchantId: merchant.id, amount: 9_951n });
    await expect(queue(refund)).rejects.toSatisfy((error) =>
      isCheckViolation(error, "ledger_balance_bounded"),
    );
    expect(await status(refund.id)).toBeUndefined();
    expect(await ledgerOf(world.database, refund.id)).toEqual([]);
  });

  it("can be cancelled until the treasury has signed: all rows are mirrored, no money moves", async () => {
    const merchant = await earned();
    const refund = order({ kind: "refund", merchantId: merchant.id, amount: 100n, feeShare: 1n });
    const before = await books(world.dev, world.database);
    await withoutSigning(async () => {
      await queue(refund);
      expect(await status(refund.id)).toMatchObject({ state: "queued" });
      expect(await cancel(refund.id)).toBe(true);
    });
    expect(await cancel(refund.id)).toBe(false);
    expect(await ledgerOf(world.database, refund.id)).toEqual([
      ...["single net merchant → merchant 99", "single fee fees → merchant 1"],
      ...["single net merchant → available 99", "single fee merchant → fees 1"],
    ]);
    await expectAtRest(world);
    expect(await status(refund.id)).toMatchObject({ state: "cancelled", transaction: null });
    expect(await books(world.dev, world.database)).toEqual(before);
    expect(await held(refund.recipient)).toBe(0n);
  });
});

describe("an order that is signed and cancelled at once", () => {
  it("is not cancelled: its money leaves", async () => {
    const merchant = await earned();
    const refund = order({ kind: "refund", merchantId: merchant.id, amount: 100n });
    await withoutSigning(async () => {
      await queue(refund);
      const { cancelling } = await world.database.db.tx(async (tx) => {
        await tx.execute(sql`UPDATE outgoing SET claim_key = signed.claim_key
          FROM outgoing AS signed WHERE outgoing.id = ${refund.id} AND signed.claim_key IS NOT NULL`);
        const cancelling = cancel(refund.id);
        await until(
          async () => (await waitingForLocks(world, '"outgoing"')) > 0,
          "it waits for the signature",
        );
        return { cancelling };
      });
      expect(await cancelling).toBe(false);
      expect(await ledgerOf(world.database, refund.id)).toEqual(["single net merchant → merchant 100"]);
      await world.database.query("UPDATE outgoing SET claim_key = NULL WHERE id = $1", [refund.id]);
    });
    await until(async () => (await held(refund.recipient)) === 100n, "the money arrives");
    await expectAtRest(world);
  });
});

describe("a return", () => {
  it("takes the money from where it lies, and leaves to its payer", async () => {
    const subject = "clr_returned";
    const merchant = await newMerchant(world);
    await sentByPayer(1_000n, subject);
    const back = { kind: "return", merchantId: merchant.id, amount: 1_000n, subject } as const;
    const elsewhere = order({ ...back, source: "overpayment" });
    await expect(queue(elsewhere)).rejects.toSatisfy((error) =>
      isCheckViolation(error, "ledger_balance_bounded"),
    );
    const returned = order({ ...back, source: "clearing" });
    await queue(returned);
    await until(async () => (await held(returned.recipient)) === 1_000n, "the money arrives");
    await expectAtRest(world);
    expect(await ledgerOf(world.database, subject)).toEqual([
      "single matched unmatched → clearing 1000",
      "single out clearing → returns-in-transit 1000",
      "pending out returns-in-transit → treasury 1000",
      "post out returns-in-transit → treasury 1000",
    ]);
    expect(await status(returned.id)).toMatchObject({ state: "final" });
    expect(await factsOf(world.database, returned.id)).toEqual([
      ...["outgoing.claimed", "outgoing.credited", "outgoing.final"],
    ]);
  });

  it("says where its money lies, or is no return", async () => {
    const { id: merchantId } = await newMerchant(world);
    await expect(queue(order({ kind: "return", merchantId, amount: 1n }))).rejects.toThrow();
  });
});

describe("many that the treasury has no money for", () => {
  it("hold nobody up whose money is there", async () => {
    // given a merchant whose money still lies on deposit addresses, and fifty orders for it
    const { id: merchantId } = await earned();
    const asset = "EURC@local";
    const place = {
      chain: "local",
      txHash: sha256("deposit"),
      logIndex: 0,
      blockHash: sha256("any"),
      booking: 1,
    };
    const [clearingId, amount] = ["clr_unswept", 50n];
    await world.database.db.tx(async (tx) => {
      const path = "deposit-match" as const;
      const parts = { toClearing: amount, toOverpayment: 0n, toUnmatched: 0n };
      await postEntries(tx, [
        templates.depositReceived({ ...place, ...parts, asset, blockNumber: 1, path, clearingId }),
        templates.clearingSettled({
          clearingId,
          merchantId,
          asset,
          attempt: 1,
          gross: amount,
          fee: 0n,
          blockNumber: 1,
        }),
      ]);
      await resolvePending(tx, "post", [templates.settleEventKey({ clearingId, attempt: 1 })]);
    });
    const token = address(world.dev.contracts.assets.EURC);
    const unfunded = Array.from({ length: 50 }, () =>
      order({ kind: "payout", merchantId, amount: 1n, token }),
    );
    for (const each of unfunded) await queue(each);
    // when somebody asks for money that is there
    const funded = order({ kind: "payout", merchantId, amount: 1_000n });
    await queue(funded);
    await until(async () => (await held(funded.recipient)) === 1_000n, "it arrives");
    for (const { id } of unfunded) expect(await cancel(id)).toBe(true);
    await expectAtRest(world);
  });
});

describe("an address of ours", () => {
  it("is no recipient: what left would have come back, and the books would not know", async () => {
    const { id: merchantId } = await earned();
    const { address } = await openOrder(world);
    const { treasury, router } = rowOf(world.dev);
    const before = await books(world.dev, world.database);
    for (const recipient of [treasury, router ?? treasury, address]) {
      const refund = order({ kind: "refund", merchantId, amount: 5n, recipient });
      await expect(queue(refund)).rejects.toMatchObject({ code: "recipient_is_ours" });
      expect(await status(refund.id)).toBeUndefined();
    }
    await expectAtRest(world);
    expect(await books(world.dev, world.database)).toEqual(before);
  });
});

/** Last: the chain's time runs ahead of everybody's. */
describe("what can never be sent", () => {
  it("is given back by kind once its authorization has expired, for good", async () => {
    const merchant = await earned();
    const subject = "clr_failed";
    await sentByPayer(500n, subject);
    const before = await books(world.dev, world.database);
    const refund = order({ kind: "refund", merchantId: merchant.id, amount: 70n, feeShare: 7n });
    const back = order({
      ...{ kind: "return", merchantId: merchant.id, amount: 500n },
      ...{ source: "clearing", subject },
    });
    await world.dev.administer("pause");
    await queue(refund);
    await queue(back);
    for (const { id } of [refund, back])
      await until(async () => (await factsOf(world.database, id)).includes("outgoing.failed"), `${id} fails`);
    expect(await status(refund.id)).toMatchObject({ state: "sending" });
    await world.dev.administer("unpause");
    await world.dev.anvil.rpc("evm_increaseTime", [3_700]);
    for (const { id } of [refund, back]) {
      await until(async () => {
        await world.dev.anvil.mine();
        return (await status(id))?.state === "failed";
      }, `${id} has ended`);
    }
    await expectAtRest(world);
    expect((await ledgerOf(world.database, refund.id)).slice(2)).toEqual([
      ...["single net merchant → available 63", "single fee merchant → fees 7"],
    ]);
    expect((await ledgerOf(world.database, subject)).slice(1)).toEqual([
      "single out clearing → returns-in-transit 500",
      "single back returns-in-transit → clearing 500",
    ]);
    expect(await factsOf(world.database, back.id)).toEqual([
      ...["outgoing.claimed", "outgoing.failed", "outgoing.expired"],
    ]);
    expect(await books(world.dev, world.database)).toEqual(before);
  });
});
