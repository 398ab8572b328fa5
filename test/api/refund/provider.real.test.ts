/** Refunds of what was paid through a provider: reserved here, carried out by that provider's feature. */
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "#kernel/codec";
import { post, resolvePending, templates } from "#ledger";
import { clearing } from "../../../api/clearing/tables.ts";
import { paymentIntent } from "../../../api/payment-intent/tables.ts";
import { lockRefund, moveRefund } from "../../../api/refund/verbs/move.ts";
import { release } from "../../../api/refund/verbs/reserve.ts";
import { sharedDatabase } from "../../support/db.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, newId, now, world } from "../world.ts";

const database = sharedDatabase();
let app: ReturnType<typeof world>["app"];
beforeAll(async () => {
  ({ app } = world({ db: database.db, facilitator }));
});

const facilitator = fakeFacilitator();
const asset = "USDC@sandbox";
const mover = { newId, now: () => now };
let count = 0;
const key = () => ({ "idempotency-key": `provider-${++count}` });

/** 10 dollars by the sandbox's provider, final, 50 basis points of them ours. */
async function paid(): Promise<{ readonly owner: Caller; readonly id: string }> {
  const owner = await newCaller(database.db);
  const { merchantId } = owner;
  const made = await caller(app, owner)("POST", "/v1/payment-intents", {
    headers: key(),
    body: { amount: { amount: "10.00", asset: "USD" } },
  });
  const [id, clearingId] = [made.body.id, newId("clr")];
  const [gross, fee] = [10_000_000n, 50_000n];
  await database.db.tx(async (tx) => {
    await tx.insert(clearing).values({
      ...{ merchantId, id: clearingId, intentId: id, state: "settled", provider: "sandbox" },
      ...{ providerReference: "sbx_1", executionPath: "deposit-match", chain: "sandbox", asset: "USDC" },
      ...{ sourceAmount: gross, settlementAmount: gross, fee, feeBps: 50, toleranceBps: 0 },
      ...{ rateFrom: "USD", rateTo: "USDC", scaledRate: 10n ** 18n, rateSource: "parity", rateLockedAt: now },
      ...{ expiresAt: now, isFinal: true, sequence: 1, createdAt: now, updatedAt: now },
    });
    const cleared = { clearingId, clearingState: "settled", executionPath: "deposit-match" } as const;
    await tx
      .update(paymentIntent)
      .set({ ...cleared, status: "completed", completedAt: now })
      .where(eq(paymentIntent.id, id));
    const log = {
      chain: "sandbox",
      txHash: sha256(id),
      ordinal: 0,
      logIndex: 0,
      blockHash: sha256("b"),
      booking: 1,
    };
    const parts = { toClearing: gross, toOverpayment: 0n, toUnmatched: 0n };
    const settled = { clearingId, attempt: 1, merchantId, asset, gross, fee, blockNumber: 1 };
    await post(tx, [
      templates.depositReceived({
        ...{ ...log, ...parts, asset, clearingId, blockNumber: 1, path: "on-chain-contract" },
      }),
      templates.clearingSettled(settled),
    ]);
    await resolvePending(tx, "post", [templates.settleEventKey(settled)]);
  });
  return { owner, id };
}

const refund = (owner: Caller, id: string, body: unknown) =>
  caller(app, owner)("POST", `/v1/payments/${id}/refunds`, { headers: key(), body });
const reservation = ["single net merchant → merchant 3980000", "single fee fees → merchant 20000"];

describe("a refund of a provider's payment", () => {
  it("needs no address, is reserved at once, and goes on as its feature says", async () => {
    const { owner, id } = await paid();
    const made = await refund(owner, id, { amount: { amount: "4", asset: "USD" } });
    expect(made).toMatchObject({
      status: 201,
      body: { state: "pending", destination: null, chain: "sandbox", amount: { amount: "4.000000" } },
    });
    expect(await ledgerOf(database, made.body.id)).toEqual(reservation);
    const name = { merchantId: owner.merchantId, id: made.body.id };
    await database.db.tx(async (tx) => {
      const row = await lockRefund(tx, name);
      expect([row.provider, row.dueAt, row.reservedAt]).toEqual(["sandbox", null, now]);
      await moveRefund(tx, mover, { row, trigger: "send" });
    });
    const cancelled = await caller(app, owner)("POST", `/v1/refunds/${made.body.id}/cancel`);
    expect(cancelled).toMatchObject({ status: 409, body: { code: "refund_not_cancellable" } });
    await database.db.tx(async (tx) => {
      const row = await lockRefund(tx, name);
      await moveRefund(tx, mover, { row, trigger: "succeed", changes: { providerReference: "sbx_re_1" } });
    });
    const read = await caller(app, owner)("GET", `/v1/refunds/${made.body.id}`);
    expect(read.body).toMatchObject({ state: "succeeded", providerReference: "sbx_re_1" });
    expect([...(await factsOf(database, made.body.id))].sort()).toEqual([
      ...["refund.created", "refund.processing", "refund.succeeded"],
    ]);
  });

  it("is freed when it is cancelled, and when it fails", async () => {
    const { owner, id } = await paid();
    const mirrored = ["single fee merchant → fees 20000", "single net merchant → available 3980000"];
    const cancelled = await refund(owner, id, { amount: { amount: "4", asset: "USDC" } });
    const path = `/v1/refunds/${cancelled.body.id}/cancel`;
    expect((await caller(app, owner)("POST", path)).body.state).toBe("cancelled");
    const failed = await refund(owner, id, { amount: { amount: "4", asset: "USDC" } });
    await database.db.tx(async (tx) => {
      const row = await lockRefund(tx, { merchantId: owner.merchantId, id: failed.body.id });
      const sent = await moveRefund(tx, mover, { row, trigger: "send" });
      expect(await release({ facilitator }, tx, sent)).toBe(true);
      const changes = { failureReason: "The provider refused it." };
      await moveRefund(tx, mover, { row: sent, trigger: "fail", changes });
    });
    for (const { body } of [cancelled, failed]) {
      const rows = await ledgerOf(database, body.id);
      expect([rows.slice(0, 2), rows.slice(2).sort()]).toEqual([reservation, mirrored]);
    }
    expect((await caller(app, owner)("GET", `/v1/refunds/${failed.body.id}`)).body).toMatchObject({
      state: "failed",
      failureReason: "The provider refused it.",
    });
  });

  it("400 for a destination: a provider pays back who paid", async () => {
    const { owner, id } = await paid();
    const destination = `0x${"ab".repeat(20)}`;
    expect(await refund(owner, id, { destination })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", errors: [{ pointer: "/destination" }] },
    });
  });
});
