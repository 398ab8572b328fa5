/** Payments by transfer to an order's own address, from the confirm to the books. */
import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { packAggregate3 } from "../../../facilitator/chain/evm/multicall.ts";
import { authorize, devDomain, newKey } from "../../support/authorization.ts";
import { onDepositAddresses } from "../../support/deposits.ts";
import { newPayer, sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  newSeller,
  sendTo,
  sharedSeller,
  statesOf,
  statesToSettled,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";
import { addressOf, arrives, expectBooks, final, idOf, settleRows } from "./deposit-scene.ts";

const world = sharedWorld();
const seller = sharedSeller(world);

/** Statements that write deposits anew, by transaction, in a table of its own. */
async function countUpdates(): Promise<void> {
  await world.database.query("CREATE TABLE updated (by_tx xid8 DEFAULT pg_current_xact_id())");
  await world.database.query(`CREATE FUNCTION note_update() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN INSERT INTO public.updated DEFAULT VALUES; RETURN NULL; END $$`);
  await world.database.query(
    "CREATE TRIGGER updated AFTER UPDATE ON clearing_deposit FOR EACH STATEMENT EXECUTE FUNCTION note_update()",
  );
}

async function finalDeposits(clearingId: string): Promise<number> {
  const rows = await world.database.query(
    "SELECT FROM clearing_deposit WHERE clearing_id = $1 AND is_final",
    [clearingId],
  );
  return rows.length;
}

describe("a deposit of exactly what is due", () => {
  it("settles: 49.99 with 50 bps is worked postings 1 and 3; posted when its block is final", async () => {
    const asked = await seller.asked({ amount: { amount: "49.99", asset: "USD" } });
    expect(asked).toMatchObject({
      paymentIntent: { status: "clearing", executionPath: "deposit-match", settlementAsset: "USDC" },
      clearing: {
        state: "awaiting-funds",
        transactionHash: null,
        sourceAmount: { amount: "49.990000", asset: "USDC" },
        fee: { amount: "0.249950" },
        netAmount: { amount: "49.740050" },
        rate: { from: "USD", to: "USDC", scaledRate: "1000000000000000000", source: "parity" },
        failure: null,
      },
      deposit: { chain: "local", asset: "USDC", required: 1, reviewRequired: false, deposits: [] },
    });
    expect(asked.deposit.uri).toContain(`address=${addressOf(asked)}&uint256=49990000`);
    const { txHash, payer } = await sendTo(world, addressOf(asked), 49_990_000n);
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid).toMatchObject({
      paymentIntent: { status: "completed", failureReason: null },
      clearing: { transactionHash: txHash, settlementAmount: { amount: "49.990000" } },
      deposit: {
        received: { amount: "49.990000" },
        uri: null,
        deposits: [{ txHash, status: "credited", amount: { amount: "49.990000" } }],
      },
    });
    expect(address(paid.paymentIntent.payment.payerAddress)).toBe(payer.address);
    expect(statesOf(paid)).toEqual(statesToSettled);
    expect(await toldOf(world.database, idOf(asked), asked.clearing.id)).toEqual([
      "payment.created",
      "payment.clearing",
      "payment.funds_detected",
      "payment.funds_received",
      "payment.completed",
    ]);
    const credit = ["single clearing deposit → clearing 49990000", ...settleRows(49_740_050, 249_950)];
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(credit);
    expect(await seller.must("GET", "/v1/balances")).toMatchObject([
      { available: { amount: "0.000000" }, pending: { amount: "49.740050" } },
    ]);
    await final(world);
    await until(async () => (await seller.available()) === "49.740050", "it is posted");
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      ...credit,
      "post net clearing → available 49740050",
      "post fee clearing → fees 249950",
    ]);
    await expectBooks(world);
    // by either id, and in the list
    expect(await seller.read(asked.clearing.id)).toEqual(await seller.read(idOf(asked)));
    expect(await seller.must("GET", `/v1/payments?txHash=${txHash}`)).toMatchObject([
      { paymentIntent: { id: idOf(asked) }, clearing: { id: asked.clearing.id } },
    ]);
  });

  it("is swept once it is final, and the books equal the chain at both places", async () => {
    const asked = await seller.asked();
    await sendTo(world, addressOf(asked), 10_000_000n);
    await seller.reaches(idOf(asked), "settled");
    await until(async () => {
      await world.dev.anvil.mine();
      return (await onDepositAddresses(world)) === 0n;
    }, "everything is swept");
    await expectAtRest(world);
    const reports = await world.house.reconcile();
    expect(reports.filter(({ status }) => status !== "equal")).toEqual([]);
  });
});

describe("several deposits", () => {
  it("are summed; what is missing is shown while it is; the one that completes the sum paid", async () => {
    const asked = await seller.asked();
    const { payer } = await sendTo(world, addressOf(asked), 4_000_000n);
    const half = await seller.reaches(idOf(asked), "funds-detected");
    await until(
      async () => (await seller.read(idOf(asked))).deposit.deposits[0].status === "confirmed",
      "the first is confirmed",
    );
    expect(half.deposit).toMatchObject({ received: { amount: "4.000000" } });
    expect((await seller.read(idOf(asked))).deposit.uri).toContain("uint256=6000000");
    const second = await sendTo(world, addressOf(asked), 6_000_000n, { payer });
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid.clearing).toMatchObject({
      transactionHash: second.txHash,
      netAmount: { amount: "9.950000" },
    });
    expect(paid.deposit.deposits.map(({ status }: { status: string }) => status)).toEqual([
      "credited",
      "credited",
    ]);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 4000000",
      "single clearing deposit → clearing 6000000",
      ...settleRows(9_950_000, 50_000),
    ]);
    await expectBooks(world);
  });

  it("in one transaction pay two payments, as an exchange sends them", async () => {
    const both = [await seller.asked(), await seller.asked()];
    const signed = await Promise.all(
      both.map(async (asked) => {
        const { key } = await newPayer(world.dev, 10_000_000n);
        const to = address(addressOf(asked));
        return authorize({ domain: devDomain(world.dev.usdc), key, to, value: 10_000_000n });
      }),
    );
    const { multicall } = world.dev.chain.row;
    const data = packAggregate3(signed.map(({ call }) => call));
    await world.dev.transact(world.dev.contracts.payer.address, { to: multicall ?? "", data });
    const paid = await Promise.all(both.map((asked) => seller.reaches(idOf(asked), "settled")));
    expect(new Set(paid.map(({ clearing }) => clearing.transactionHash)).size).toBe(1);
    for (const asked of both)
      expect((await ledgerOf(world.database, asked.clearing.id)).slice(0, 3)).toEqual([
        "single clearing deposit → clearing 10000000",
        ...settleRows(9_950_000, 50_000),
      ]);
    await expectBooks(world);
  });

  it("that change with each block are written at once", async () => {
    await countUpdates();
    const asked = await seller.asked();
    const signed = await Promise.all(
      [1_000_000n, 2_000_000n, 7_000_000n].map(async (value) => {
        const { key } = await newPayer(world.dev, value);
        return authorize({ domain: devDomain(world.dev.usdc), key, to: address(addressOf(asked)), value });
      }),
    );
    const { multicall } = world.dev.chain.row;
    const data = packAggregate3(signed.map(({ call }) => call));
    await world.dev.transact(world.dev.contracts.payer.address, { to: multicall ?? "", data });
    await seller.reaches(idOf(asked), "settled");
    await final(world);
    await until(async () => (await finalDeposits(asked.clearing.id)) === 3, "all are final");
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 1000000",
      "single clearing deposit → clearing 2000000",
      "single clearing deposit → clearing 7000000",
      ...settleRows(9_950_000, 50_000),
      "post net clearing → available 9950000",
      "post fee clearing → fees 50000",
    ]);
    expect(await world.database.query("SELECT DISTINCT count(*) FROM updated GROUP BY by_tx")).toEqual([
      { count: "1" },
    ]);
    await world.database.query("DROP TRIGGER updated ON clearing_deposit");
    await expectBooks(world);
  });

  it("of dust do not count and are not lost", async () => {
    const asked = await seller.asked();
    await sendTo(world, addressOf(asked), 9_999n);
    await until(
      async () => (await seller.read(idOf(asked))).deposit.deposits[0]?.status === "ignored",
      "it is ignored",
    );
    expect(await seller.read(idOf(asked))).toMatchObject({
      clearing: { state: "awaiting-funds" },
      deposit: { reviewRequired: false, received: { amount: "0.000000" } },
    });
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single unmatched deposit → unmatched 9999",
    ]);
    // whoever sent it is not who pays
    const { payer } = await sendTo(world, addressOf(asked), 10_000_000n);
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid.paymentIntent.payment.payerAddress.toLowerCase()).toBe(payer.address);
    expect(statesOf(paid)).toEqual(statesToSettled);
  });

  it("of dust are the payment where they complete the sum", async () => {
    const tolerant = await newSeller(world);
    await tolerant.must("PATCH", "/v1/merchant", { underpaymentToleranceBps: 500 });
    const asked = await tolerant.asked({ amount: { amount: "0.01", asset: "USD" } });
    await sendTo(world, addressOf(asked), 9_999n);
    await tolerant.reaches(idOf(asked), "settled");
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 9999",
      ...settleRows(9_949, 50),
    ]);
  });
});

async function bothSeen({ clearing }: { readonly clearing: { readonly id: string } }): Promise<void> {
  const { deposits } = world.house.facilitator;
  const seen = () => deposits.arrivals(world.database.db.pool, [clearing.id]);
  await until(async () => (await seen()).length === 2, "both are seen");
}

describe("overpaid", () => {
  it("120 for 100 is worked posting 5; what is beyond stays owed where nobody named the payer", async () => {
    const asked = await seller.asked({ amount: { amount: "100", asset: "USD" } });
    await sendTo(world, addressOf(asked), 120_000_000n);
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid.clearing).toMatchObject({
      settlementAmount: { amount: "100.000000" },
      fee: { amount: "0.500000" },
      netAmount: { amount: "99.500000" },
    });
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 100000000",
      "single overpayment deposit → overpayment 20000000",
      ...settleRows(99_500_000, 500_000),
    ]);
    expect(await toldOf(world.database, asked.clearing.id)).toContain("payment.overpaid");
    // when the merchant sends it back, to an address that it vouches for: worked posting 6
    expect(await seller.review(idOf(asked), { action: "return" })).toMatchObject({
      status: 422,
      body: { code: "destination_required" },
    });
    expect(
      await seller.review(idOf(asked), { action: "return", destination: addressOf(asked) }),
    ).toMatchObject({ status: 422, body: { code: "recipient_is_ours" } });
    // where it would be lost it is not sent
    const nobody = await seller.review(idOf(asked), { action: "return", destination: `0x${"0".repeat(40)}` });
    const token = await seller.review(idOf(asked), { action: "return", destination: world.dev.usdc });
    for (const lost of [nobody, token])
      expect(lost).toMatchObject({
        status: 400,
        body: { code: "validation_failed", errors: [{ pointer: "/destination" }] },
      });
    const { address: destination } = newKey();
    const decided = await seller.review(idOf(asked), { action: "return", destination });
    expect(decided).toMatchObject({ status: 200, body: { clearing: { state: "settled" } } });
    expect(statesOf(decided.body).at(-1)).toBe("(settled)");
    await arrives(world, destination, 20_000_000n);
    await expectAtRest(world);
    const rows = await ledgerOf(world.database, asked.clearing.id);
    expect(rows.slice(4).sort()).toEqual([
      "pending out returns-in-transit → treasury 20000000",
      "post fee clearing → fees 500000",
      "post net clearing → available 99500000",
      "post out returns-in-transit → treasury 20000000",
      "single out overpayment → returns-in-transit 20000000",
    ]);
  });

  it("goes back by itself to a payer who was named and is the sender", async () => {
    const key = newKey();
    const asked = await seller.asked({ payment: { payerAddress: key.address } });
    await sendTo(world, addressOf(asked), 12_000_000n, { payer: key });
    await seller.reaches(idOf(asked), "settled");
    await final(world);
    await arrives(world, key.address, 2_000_000n);
    await expectAtRest(world);
  });

  it("goes back, to the dollar, where its block is final after those of the payment", async () => {
    const key = newKey();
    const asked = await seller.asked({ payment: { payerAddress: key.address } });
    const id = idOf(asked);
    await heldBack(world, { merchantId: seller.id, id }, async () => {
      await sendTo(world, addressOf(asked), 10_000_000n, { payer: key });
      await sendTo(world, addressOf(asked), 1_000_000n, { payer: key });
      await bothSeen(asked);
    });
    await withMiningHeld(world, async () => {
      await seller.reaches(id, "settled");
      await world.dev.anvil.mine(1);
      await until(async () => {
        const [row] = await world.database.query("SELECT is_final FROM clearing WHERE intent_id = $1", [id]);
        return row?.is_final === true;
      }, "the payment is final");
    });
    await arrives(world, key.address, 1_000_000n);
    await expectAtRest(world);
    const rows = await ledgerOf(world.database, asked.clearing.id);
    expect(rows.filter((row) => row.includes("overpayment"))).toEqual([
      "single overpayment deposit → overpayment 1000000",
      "single out overpayment → returns-in-transit 1000000",
    ]);
  });

  it("does not go back by itself below a dollar, nor to a sender who was not named", async () => {
    const key = newKey();
    const asked = await seller.asked({ payment: { payerAddress: key.address } });
    const id = idOf(asked);
    await heldBack(world, { merchantId: seller.id, id }, async () => {
      await sendTo(world, addressOf(asked), 10_999_999n, { payer: key });
      await sendTo(world, addressOf(asked), 2_000_000n);
      await bothSeen(asked);
    });
    await seller.reaches(id, "settled");
    await expectAtRest(world);
    await until(async () => {
      const [row] = await world.database.query("SELECT due_at FROM clearing WHERE intent_id = $1", [id]);
      return row?.due_at === null;
    }, "nothing of it is waited for");
    const rows = await ledgerOf(world.database, asked.clearing.id);
    expect(rows.filter((row) => row.includes("overpayment")).sort()).toEqual([
      "single overpayment deposit → overpayment 2000000",
      "single overpayment deposit → overpayment 999999",
    ]);
    expect(
      await world.database.query("SELECT 1 FROM clearing_return WHERE clearing_id = $1", [asked.clearing.id]),
    ).toEqual([]);
  });
});
