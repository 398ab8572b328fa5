/** Deposits that come short, for an order that was replaced, or in another token: what becomes of them by itself, and
 *  what the merchant decides. */
import { describe, expect, it } from "vitest";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  movableClock,
  newSeller,
  routeOrder,
  sendTo,
  sharedSeller,
  toldOf,
} from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { addressOf, arrives, expectBooks, final, idOf, settleRows } from "./deposit-scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

/** The observer has seen so many transfers, whoever has the clearing in hand. */
const areObserved = (clearingId: string, count: number) =>
  until(async () => {
    const { facilitator } = world.house;
    const arrivals = await facilitator.deposits.arrivals(world.database.db.pool, [clearingId]);
    return arrivals.length === count;
  }, `${count} are observed`);

describe("underpaid", () => {
  it("within the tolerance waits for the rest that is on its way", async () => {
    const tolerant = await newSeller(world);
    await tolerant.must("PATCH", "/v1/merchant", { underpaymentToleranceBps: 500 });
    // so much needs a final block, so that the second is still on its way when the first counts
    const asked = await tolerant.asked({ amount: { amount: "20000", asset: "USD" } });
    await heldBack(world, { merchantId: tolerant.id, id: idOf(asked) }, async () => {
      await sendTo(world, addressOf(asked), 19_200_000_000n);
      await final(world);
      await sendTo(world, addressOf(asked), 800_000_000n);
      await areObserved(asked.clearing.id, 2);
    });
    await until(
      async () => (await tolerant.read(idOf(asked))).deposit.deposits[0]?.status !== "confirming",
      "the first is final",
    );
    await final(world);
    const paid = await tolerant.reaches(idOf(asked), "settled");
    expect(paid).toMatchObject({
      clearing: { settlementAmount: { amount: "20000.000000" } },
      deposit: { reviewRequired: false },
    });
    const rows = await ledgerOf(world.database, asked.clearing.id);
    // booked in one turn where both are final by then, in either order
    expect(rows.slice(0, 2).toSorted()).toEqual([
      "single clearing deposit → clearing 19200000000",
      "single clearing deposit → clearing 800000000",
    ]);
    expect(rows.slice(2, 4)).toEqual(settleRows(19_900_000_000, 100_000_000));
    await expectBooks(world);
  });

  it("within the merchant's tolerance counts as paid, and what came is credited", async () => {
    const tolerant = await newSeller(world);
    await tolerant.must("PATCH", "/v1/merchant", { underpaymentToleranceBps: 100 });
    const asked = await tolerant.asked();
    await sendTo(world, addressOf(asked), 9_899_999n);
    await tolerant.reaches(idOf(asked), "funds-detected");
    await sendTo(world, addressOf(asked), 1n);
    // dust completes the sum
    const paid = await tolerant.reaches(idOf(asked), "settled");
    expect(paid.clearing).toMatchObject({
      settlementAmount: { amount: "9.900000" },
      fee: { amount: "0.049500" },
    });
    // its row names the block that completed it
    const [block] = await world.database.query<Record<"first" | "last" | "settled", string>>(
      `SELECT min(block_number) FILTER (WHERE leg = 'clearing') AS first,
         max(block_number) FILTER (WHERE leg = 'clearing') AS last, max(block_number) FILTER (WHERE leg = 'net') AS settled
       FROM ledger_transfer WHERE subject = $1`,
      [asked.clearing.id],
    );
    expect(block?.settled).toBe(block?.last);
    expect(block?.first).not.toBe(block?.last);
  });

  async function underpaid() {
    const asked = await seller.asked({ amount: { amount: "100", asset: "USD" } });
    const { payer } = await sendTo(world, addressOf(asked), 99_800_000n);
    await seller.reaches(idOf(asked), "funds-detected");
    await until(
      async () => (await seller.read(idOf(asked))).deposit.deposits[0].status === "confirmed",
      "it is confirmed",
    );
    clock.forward(32 * MINUTE);
    const held = await seller.reaches(idOf(asked), "in-review");
    return { asked, held, payer };
  }

  it("when the window closes it is the merchant's to decide", async () => {
    const { asked, held } = await underpaid();
    expect(held).toMatchObject({
      paymentIntent: { status: "clearing", failureReason: null },
      clearing: { failure: { code: "deposit_underpaid" } },
      deposit: { reviewRequired: true },
    });
    expect(await seller.must("GET", "/v1/payments?reviewRequired=true")).toMatchObject([
      { paymentIntent: { id: idOf(asked) } },
    ]);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 99800000",
    ]);
    // accept: worked posting 8
    const accepted = await seller.review(idOf(asked), { action: "accept" });
    expect(accepted).toMatchObject({
      status: 200,
      body: {
        paymentIntent: { status: "completed" },
        clearing: { state: "settled", netAmount: { amount: "99.301000" }, failure: null },
        deposit: { reviewRequired: false },
      },
    });
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
      "single clearing deposit → clearing 99800000",
      ...settleRows(99_301_000, 499_000),
    ]);
    expect(await seller.review(idOf(asked), { action: "accept" })).toMatchObject({
      status: 409,
      body: { code: "review_not_required" },
    });
    await expectBooks(world);
  });

  it("extended, the payer sends the rest, and it settles", async () => {
    const { asked, payer } = await underpaid();
    const before = (await seller.read(idOf(asked))).paymentIntent.expiresAt;
    const extended = await seller.review(idOf(asked), { action: "extend" });
    expect(extended).toMatchObject({ status: 200, body: { paymentIntent: { status: "clearing" } } });
    expect(extended.body.paymentIntent.expiresAt > before).toBe(true);
    expect(addressOf(extended.body)).toBe(addressOf(asked));
    await sendTo(world, addressOf(asked), 200_000n, { payer });
    const paid = await seller.reaches(idOf(asked), "settled");
    expect(paid.clearing.netAmount.amount).toBe("99.500000");
    expect(await toldOf(world.database, asked.clearing.id)).toContain("payment.reopened");
  });

  it("returned, it goes back whole and the merchant is not credited: worked posting 13", async () => {
    const { asked } = await underpaid();
    const { address: destination } = newKey();
    const available = await seller.must("GET", "/v1/balances");
    const returned = await seller.review(idOf(asked), { action: "return", destination, note: "sold out" });
    expect(returned).toMatchObject({
      status: 200,
      body: {
        paymentIntent: { status: "failed", failureReason: "review_returned" },
        clearing: { state: "returned" },
        deposit: { deposits: [{ status: "returned" }] },
      },
    });
    await arrives(world, destination, 99_800_000n);
    await expectAtRest(world);
    const [ret] = await world.database.query<{ id: string; state: string }>(
      "SELECT id, state FROM clearing_return WHERE clearing_id = $1",
      [asked.clearing.id],
    );
    expect((await ledgerOf(world.database, asked.clearing.id)).slice(1)).toEqual([
      "single out clearing → returns-in-transit 99800000",
      "pending out returns-in-transit → treasury 99800000",
      "post out returns-in-transit → treasury 99800000",
    ]);
    await until(async () => {
      const [row] = await world.database.query("SELECT state FROM clearing_return WHERE id = $1", [ret?.id]);
      return row?.state === "sent";
    }, "it is seen as sent");
    expect(await seller.must("GET", "/v1/balances")).toEqual(available);
    await expectBooks(world);
  });

  it("409 funds_not_received, 409 review_not_required where there is nothing to decide", async () => {
    const asked = await seller.asked();
    for (const action of ["accept", "return", "extend"])
      expect(await seller.review(idOf(asked), { action })).toMatchObject({
        status: 409,
        body: { code: "review_not_required" },
      });
  });
});

describe("an order through the router", () => {
  it("that replaced one of the same terms is the one that is paid", async () => {
    // given a payer who chose the router, then a transfer, then the router again
    const { id } = await seller.intent({ executionPath: "on-chain-contract" });
    for (const executionPath of ["on-chain-contract", "deposit-match", "on-chain-contract"]) {
      const body = new URLSearchParams({ chain: "local", asset: "USDC", executionPath });
      const headers = { "Sec-Fetch-Site": "same-origin" };
      await fetch(`${world.baseUrl}/checkout/${id}/confirm`, {
        method: "POST",
        redirect: "manual",
        headers,
        body,
      });
    }
    await routeOrder(world, await seller.read(id));
    const paid = await seller.reaches(id, "settled");
    expect(paid).toMatchObject({
      paymentIntent: { status: "completed" },
      deposit: { reviewRequired: false },
    });
    expect(
      await world.database.query(
        "SELECT seq, state FROM clearing_order WHERE clearing_id = $1 ORDER BY seq",
        [paid.clearing.id],
      ),
    ).toEqual([
      { seq: 1, state: "superseded" },
      { seq: 2, state: "superseded" },
      { seq: 3, state: "consumed" },
    ]);
    await expectBooks(world);
  });
});

describe("another token of the same chain", () => {
  it("waits for the merchant anew when the payer was given more time and sent nothing else", async () => {
    const asked = await seller.asked();
    const { EURC } = world.dev.contracts.assets;
    await sendTo(world, addressOf(asked), 3_000_000n, { token: EURC });
    await seller.reaches(idOf(asked), "in-review");
    const extended = await seller.review(idOf(asked), { action: "extend" });
    expect(extended.body).toMatchObject({
      clearing: { state: "awaiting-funds" },
      deposit: { reviewRequired: false },
    });
    clock.forward(32 * MINUTE);
    const held = await seller.reaches(idOf(asked), "in-review");
    expect(held).toMatchObject({ paymentIntent: { status: "clearing" }, deposit: { reviewRequired: true } });
    const { address: destination } = newKey();
    expect(await seller.review(idOf(asked), { action: "return", destination })).toMatchObject({
      status: 200,
      body: { clearing: { state: "returned" } },
    });
  });

  /** Settled beside it, the other token is still shown, until it has gone back. */
  async function goesBack(id: string, settled: { readonly clearing: { readonly id: string } }) {
    expect(settled).toMatchObject({ clearing: { state: "settled" }, deposit: { reviewRequired: true } });
    const listed = await seller.must("GET", "/v1/payments?reviewRequired=true");
    expect(listed.map(idOf)).toContain(id);
    const before = await ledgerOf(world.database, settled.clearing.id);
    expect(before).toContain("single unmatched deposit → unmatched 3000000");
    const { address: destination } = newKey();
    const sent = await seller.review(id, { action: "return", destination });
    expect(sent).toMatchObject({
      status: 200,
      body: {
        paymentIntent: { status: "completed" },
        clearing: { state: "settled" },
        deposit: { reviewRequired: false },
      },
    });
    await arrives(world, destination, 3_000_000n, world.dev.contracts.assets.EURC);
    await expectAtRest(world);
    const after = await ledgerOf(world.database, settled.clearing.id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after).toContain("single out unmatched → returns-in-transit 3000000");
    expect((await seller.must("GET", "/v1/payments?reviewRequired=true")).map(idOf)).not.toContain(id);
    expect(await seller.review(id, { action: "return", destination })).toMatchObject({
      status: 409,
      body: { code: "review_not_required" },
    });
  }

  it("stays under review when the payer was given more time and paid in the right one", async () => {
    const asked = await seller.asked();
    const { EURC } = world.dev.contracts.assets;
    await sendTo(world, addressOf(asked), 3_000_000n, { token: EURC });
    await seller.reaches(idOf(asked), "in-review");
    await seller.review(idOf(asked), { action: "extend" });
    await sendTo(world, addressOf(asked), 10_000_000n);
    await goesBack(idOf(asked), await seller.reaches(idOf(asked), "settled"));
  });

  it("stays under review when what came in the right one is accepted", async () => {
    const asked = await seller.asked();
    const { EURC } = world.dev.contracts.assets;
    await sendTo(world, addressOf(asked), 3_000_000n, { token: EURC });
    await seller.reaches(idOf(asked), "in-review");
    await sendTo(world, addressOf(asked), 6_000_000n);
    await until(
      async () => (await seller.read(idOf(asked))).deposit.received.amount === "6.000000",
      "both are seen",
    );
    await until(
      async () => (await seller.review(idOf(asked), { action: "accept" })).status === 200,
      "it is accepted",
    );
    await goesBack(idOf(asked), await seller.read(idOf(asked)));
  });

  it("waits for the merchant, who may take it as the payment", async () => {
    const asked = await seller.asked();
    const { EURC, USDG } = world.dev.contracts.assets;
    // less of a third one, though it came first, is left where it lies
    await sendTo(world, addressOf(asked), 2_000_000n, { token: USDG });
    const held = await seller.reaches(idOf(asked), "in-review");
    expect(held.deposit.deposits).toMatchObject([{ amount: { amount: "2.000000", asset: "USDG" } }]);
    await sendTo(world, addressOf(asked), 9_000_000n, { token: EURC });
    const rows = () => ledgerOf(world.database, asked.clearing.id);
    await until(async () => (await rows()).length === 2, "both are booked");
    await final(world);
    await until(
      async () => (await seller.review(idOf(asked), { action: "accept" })).status === 200,
      "it is final and accepted",
    );
    expect(await seller.read(idOf(asked))).toMatchObject({
      paymentIntent: { status: "completed", settlementAsset: "EURC", payment: { asset: "EURC" } },
      clearing: {
        settlementAmount: { amount: "9.000000", asset: "EURC" },
        rate: { from: "USD", to: "EURC", scaledRate: "900000000000000000", source: "none" },
      },
      deposit: { reviewRequired: true },
    });
    expect(await rows()).toEqual([
      "single unmatched deposit → unmatched 2000000",
      "single unmatched deposit → unmatched 9000000",
      "single matched unmatched → clearing 9000000",
      "pending net clearing → available 8955000",
      "pending fee clearing → fees 45000",
      "post net clearing → available 8955000",
      "post fee clearing → fees 45000",
    ]);
  });
});
