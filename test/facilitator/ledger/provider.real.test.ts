/** The rows of money that an outside provider holds: received, settled at once, refunded; apart from every chain's. */
import { describe, expect, it } from "vitest";
import { type Entry, imbalance, post, resolvePending, templates } from "#ledger";
import { sharedDatabase } from "../../support/db.ts";
import { balances, transfers } from "./rows.ts";

const asset = "USDC@sandbox";
const held = "asset:provider:sandbox";
const available = "liability:merchant:mer_one:available";
const reserved = "liability:merchant:mer_one:reserved";

const books = sharedDatabase();

const postOne = (entry: Entry) => books.db.tx((tx) => post(tx, [entry]));
const rows = async () =>
  (await transfers(books)).map(({ event, phase, debit, credit, amount, block }) => [
    ...[event, phase, `${debit} → ${credit}`, amount, block],
  ]);

describe("a payment at a provider", () => {
  it("is booked, settled and refunded in the provider's own asset, and its books balance", async () => {
    const received = { asset, reference: "sbx_1", amount: 50_000_000n, clearingId: "clr_1" };
    await postOne(templates.providerReceived(received));
    expect(await postOne(templates.providerReceived(received))).toEqual(["exists"]);
    const settled = {
      clearingId: "clr_1",
      attempt: 1,
      merchantId: "mer_one",
      asset,
      gross: 50_000_000n,
      fee: 250_000n,
      blockNumber: null,
    };
    await books.db.tx(async (tx) => {
      await post(tx, [templates.clearingSettled(settled)]);
      await resolvePending(tx, "post", [templates.settleEventKey(settled)]);
    });
    const refund = { refundId: "re_1", merchantId: "mer_one", asset, net: 9_950_000n, feeShare: 50_000n };
    await postOne(templates.refundCreated(refund));
    const sent = { asset, reference: "sbr_1", amount: 10_000_000n, refundId: "re_1", merchantId: "mer_one" };
    await postOne(templates.providerRefunded(sent));
    expect(await postOne(templates.providerRefunded(sent))).toEqual(["exists"]);

    expect(await rows()).toEqual(
      expect.arrayContaining([
        ["provider:sandbox:sbx_1", "single", `${held} → liability:clearing`, "50000000", null],
        ["settle:clr_1:1:post", "post", `liability:clearing → ${available}`, "49750000", null],
        ["settle:clr_1:1:post", "post", "liability:clearing → income:fees", "250000", null],
        ["provider:sandbox:sbr_1", "single", `${reserved} → ${held}`, "10000000", null],
      ]),
    );
    expect(await balances(books)).toEqual({
      [held]: [40_000_000n, 0n],
      "liability:clearing": [0n, 0n],
      [available]: [39_800_000n, 0n],
      [reserved]: [0n, 0n],
      "income:fees": [200_000n, 0n],
    });
    expect(await imbalance(books.db.pool)).toEqual([{ asset, difference: 0n }]);
  });
});
