/** Deposits that come after their window, or once more: what becomes of them by itself, and what the merchant decides. */
import { afterEach, expect, it } from "vitest";
import { fixedRates, type Rates } from "#api";
import { type Address, checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, newSeller, sendTo, sharedSeller, statesOf, toldOf } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { withoutSigning } from "../../support/scene.ts";
import { addressOf, expectBooks, final, idOf, settleRows } from "./deposit-scene.ts";

const MINUTE = 60_000;
const clock = movableClock();
/** Basis points that the market has moved by since it was first asked. */
let moved = 0n;
const steady = fixedRates({ clock, log: silentLog });
const rates: Rates = {
  async rate(pair) {
    const answer = await steady.rate(pair);
    if (!answer.ok) return answer;
    return {
      ok: true,
      rate: { ...answer.rate, scaledRate: (answer.rate.scaledRate * (10_000n + moved)) / 10_000n },
    };
  },
};

const world = sharedWorld({ clock, rates });
const seller = sharedSeller(world);
afterEach(() => {
  moved = 0n;
});

it("nothing came: expired, and late money in full reopens it by itself at parity", async () => {
  const asked = await seller.asked();
  clock.forward(32 * MINUTE);
  const expired = await seller.reaches(idOf(asked), "expired");
  expect(expired).toMatchObject({
    paymentIntent: { status: "expired", failureReason: "order_expired" },
    clearing: { failure: { code: "order_expired" } },
  });
  await sendTo(world, addressOf(asked), 10_000_000n);
  const paid = await seller.reaches(idOf(asked), "settled");
  expect(paid).toMatchObject({
    paymentIntent: { status: "completed", failureReason: null },
    clearing: { failure: null },
  });
  expect(statesOf(paid).slice(2)).toEqual(["expired", "funds-received", "settling", "settled"]);
  expect(await toldOf(world.database, asked.clearing.id)).toEqual([
    "payment.clearing",
    "payment.expired",
    "payment.reopened",
    "payment.funds_received",
    "payment.completed",
  ]);
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual([
    "single clearing deposit → clearing 10000000",
    ...settleRows(9_950_000, 50_000),
  ]);
});

it.each(["expired", "failed"])(
  "late money of what %s, of a link whose last place somebody else has paid, is the merchant's to decide",
  async (end) => {
    const link = await seller.must("POST", "/v1/payment-links", {
      kind: "fixed",
      amount: { amount: "10", asset: "USD" },
      maxPayments: 1,
    });
    const checkOut = async () => {
      const { id } = await seller.must("POST", `/v1/payment-links/${link.id}/checkout`, {});
      return seller.confirm(id);
    };
    const late = await checkOut();
    clock.forward(32 * MINUTE);
    await seller.reaches(idOf(late), "expired");
    await world.database.query("UPDATE clearing SET state = $1 WHERE id = $2", [end, late.clearing.id]);
    const other = await checkOut();
    await sendTo(world, addressOf(other), 10_000_000n);
    await seller.reaches(idOf(other), "settled");
    await sendTo(world, addressOf(late), 10_000_000n);
    const held = await seller.reaches(idOf(late), "in-review");
    expect(held.deposit).toMatchObject({ reviewRequired: true, deposits: [{ status: "late" }] });
    expect(await toldOf(world.database, late.clearing.id)).not.toContain("payment.completed");
    expect(await ledgerOf(world.database, late.clearing.id)).toEqual([
      "single clearing deposit → clearing 10000000",
    ]);
    expect((await ledgerOf(world.database, other.clearing.id)).slice(0, 3)).toEqual([
      "single clearing deposit → clearing 10000000",
      ...settleRows(9_950_000, 50_000),
    ]);
  },
);

async function lateInPounds(percentInBps: bigint, from = seller) {
  const asked = await from.asked({ amount: { amount: "10", asset: "GBP" } });
  expect(asked.clearing.rate).toMatchObject({ from: "GBP", to: "USDC", source: "fixed" });
  clock.forward(17 * MINUTE);
  await from.reaches(idOf(asked), "expired");
  moved = percentInBps;
  const due = BigInt(asked.clearing.sourceAmount.amount.replace(".", ""));
  await sendTo(world, addressOf(asked), due);
  return asked;
}

it("late money at a market rate that still holds reopens it", async () => {
  const asked = await lateInPounds(-50n);
  await seller.reaches(idOf(asked), "settled");
});

it("late money at a rate that holds with the merchant's margin in it reopens it", async () => {
  const withMargin = await newSeller(world);
  await withMargin.must("PATCH", "/v1/merchant", { spreadBps: 200 });
  const asked = await lateInPounds(-50n, withMargin);
  await withMargin.reaches(idOf(asked), "settled");
});

it("late money beyond the rate guard is the merchant's to decide", async () => {
  const asked = await lateInPounds(51n);
  const held = await seller.reaches(idOf(asked), "in-review");
  expect(held.deposit).toMatchObject({ reviewRequired: true, deposits: [{ status: "late" }] });
  expect(await seller.retry(idOf(asked))).toMatchObject({
    status: 409,
    body: { code: "payment_not_retryable" },
  });
  expect(await seller.review(idOf(asked), { action: "accept" })).toMatchObject({
    body: { clearing: { state: "settled" }, deposit: { deposits: [{ status: "credited" }] } },
  });
});

it("that cannot be returned is the merchant's to decide about again: another address can be given", async () => {
  const asked = await lateInPounds(51n);
  await seller.reaches(idOf(asked), "in-review");
  const give = (to: Address) => seller.review(idOf(asked), { action: "return", destination: checksum(to) });
  await withoutSigning(world, async () => {
    expect(await give(newKey().address)).toMatchObject({ status: 200 });
    // given that each try comes to nothing
    const { outgoing } = world.house.facilitator;
    const sending = () =>
      world.database.query<{ id: string }>(
        "SELECT id FROM clearing_return WHERE clearing_id = $1 AND state = 'sending'",
        [asked.clearing.id],
      );
    const isGivenUp = async () => (await seller.read(idOf(asked))).deposit.reviewRequired === true;
    await until(async () => {
      await world.dev.anvil.mine();
      for (const { id } of await sending()) await world.database.db.tx((tx) => outgoing.cancel(tx, id));
      await world.database.query("UPDATE clearing SET due_at = now() WHERE id = $1", [asked.clearing.id]);
      return isGivenUp();
    }, "it is given up");
  });
  const tries = await world.database.query("SELECT state FROM clearing_return WHERE clearing_id = $1", [
    asked.clearing.id,
  ]);
  expect(tries).toEqual(Array.from({ length: 5 }, () => ({ state: "failed" })));
  // then it can go elsewhere, once
  const elsewhere = newKey().address;
  expect(await give(elsewhere)).toMatchObject({ status: 200, body: { clearing: { state: "returned" } } });
  await final(world);
  const held = () => world.dev.chain.tokenBalance(world.dev.usdc, elsewhere, "latest");
  await until(async () => {
    await world.dev.anvil.mine();
    return (await held()) > 0n;
  }, "it is sent");
  expect((await seller.read(idOf(asked))).deposit).toMatchObject({ reviewRequired: false });
  await expectBooks(world);
});

it("later than seven days it belongs to nobody until the merchant decides", async () => {
  const asked = await seller.asked();
  clock.forward(32 * MINUTE);
  await seller.reaches(idOf(asked), "expired");
  clock.forward(7 * 24 * 60 * MINUTE);
  await sendTo(world, addressOf(asked), 4_000_000n);
  await seller.reaches(idOf(asked), "in-review");
  await final(world);
  const strays = [
    "single unmatched deposit → unmatched 4000000",
    "single unmatched deposit → unmatched 6000000",
  ];
  await sendTo(world, addressOf(asked), 6_000_000n);
  await until(
    async () => (await ledgerOf(world.database, asked.clearing.id)).length === strays.length,
    "both are seen",
  );
  expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(strays);
  expect(await seller.review(idOf(asked), { action: "accept" })).toMatchObject({
    status: 409,
    body: { code: "funds_not_final" },
  });
  await final(world);
  await until(
    async () => (await seller.review(idOf(asked), { action: "accept" })).status === 200,
    "it is final and accepted",
  );
  // worked posting 7; its block is final, so the credit is posted at once
  const rows = await ledgerOf(world.database, asked.clearing.id);
  const matched = [
    "single matched unmatched → clearing 4000000",
    "single matched unmatched → clearing 6000000",
  ];
  expect(rows.slice(2, 4).toSorted()).toEqual(matched);
  expect(rows.toSpliced(2, 2)).toEqual([
    ...strays,
    ...settleRows(9_950_000, 50_000),
    "post net clearing → available 9950000",
    "post fee clearing → fees 50000",
  ]);
  await expectBooks(world);
});

it("paid once more: the second is nobody's, and can be sent back", async () => {
  const asked = await seller.asked();
  await sendTo(world, addressOf(asked), 10_000_000n);
  await seller.reaches(idOf(asked), "settled");
  await sendTo(world, addressOf(asked), 10_000_000n);
  await until(async () => (await seller.read(idOf(asked))).deposit.reviewRequired, "it is seen");
  expect((await seller.read(idOf(asked))).clearing.state).toBe("settled");
  expect(await ledgerOf(world.database, asked.clearing.id)).toContain(
    "single unmatched deposit → unmatched 10000000",
  );
  const { address: destination } = newKey();
  const sent = await seller.review(idOf(asked), { action: "return", destination });
  expect(sent).toMatchObject({
    status: 200,
    body: { clearing: { state: "settled" }, deposit: { reviewRequired: false } },
  });
  expect(sent.body.deposit.deposits.map(({ status }: { status: string }) => status)).toEqual([
    "credited",
    "returned",
  ]);
});
