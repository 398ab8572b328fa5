/** What merchants are told of payouts, by what the lanes tell of their money. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { idMaker } from "#kernel/id";
import { systemRandom } from "#kernel/system";
import { payoutHearer } from "../../../api/payout/events.ts";
import { presentPayout } from "../../../api/payout/present.ts";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { fakeFacilitator } from "../world.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

it("one that ended is told once, as paid or as failed; what came before its end, and other money, is not", async () => {
  const hear = payoutHearer({
    facilitator: fakeFacilitator(),
    newId: idMaker({ clock: manualClock(), random: systemRandom }),
  });
  const fact = (type: string, subject: string, i: number) => ({
    ...{ id: `evt_${i}` as const, type, subject, merchantId: "mer_1", payload: {} },
  });
  const heard = [
    ["outgoing.credited", "po_paid"],
    ["outgoing.final", "po_paid"],
    ["outgoing.failed", "po_expired"],
    ["outgoing.expired", "po_expired"],
    ["outgoing.cancelled", "po_spent"],
    ["outgoing.final", "ref_1"],
    ["outgoing.expired", "ret_1"],
  ] as const;
  await database.db.tx((tx) =>
    hear(
      tx,
      heard.map(([type, subject], i) => fact(type, subject, i)),
    ),
  );
  const told = await database.query(
    "SELECT type, subject, merchant_id AS merchant, payload FROM outbox ORDER BY sequence",
  );
  const event = (type: string, subject: string) => ({
    ...{ type, subject, merchant: "mer_1" },
    payload: { payoutId: subject, previous: { state: "processing" } },
  });
  expect(told).toEqual([
    event("payout.succeeded", "po_paid"),
    event("payout.failed", "po_expired"),
    event("payout.failed", "po_spent"),
  ]);
});

it("a reason is told of one that failed, and not while it may still be paid", () => {
  const row = {
    ...{ merchantId: "mer_1", id: "po_1", chain: "local", asset: "USDC", amount: 5n, createdAt: new Date(0) },
    destination: address(`0x${"77".repeat(20)}`),
  };
  const reasonIn = (state: "sending" | "failed") =>
    presentPayout(row, { id: row.id, state, transaction: null, failure: "The authorization expired." })
      .failureReason;
  expect([reasonIn("sending"), reasonIn("failed")]).toEqual([null, "The authorization expired."]);
});
