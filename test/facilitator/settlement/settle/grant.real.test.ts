/** The grant of success, where others change the claim at the same time. */
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMerchant, sharedWorld, until } from "../../../support/house.ts";
import { claimOf } from "../../../support/records.ts";
import { newPayment } from "../../../support/scene.ts";

const world = sharedWorld({ settings: { maxWaitMs: 2_000 } });
let reversing: pg.Client;
beforeAll(async () => {
  reversing = new pg.Client({ connectionString: world.database.url });
  await reversing.connect();
});
afterAll(async () => {
  await reversing?.end();
});

const isAnyWaiting = async () => {
  const waiting = await world.database.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return waiting.length > 0;
};

it("of a payment whose block leaves the chain just then is none, and the payment is told as pending, not as told before", async () => {
  // given a payment that was credited, and nobody was told
  const paid = await newPayment(world, await newMerchant(world));
  const { body } = await paid.settle();
  await world.house.facilitator.releaseGrant(body.extra.paymentId, await grantedTo());
  // when it is reversed between the look at it and the grant
  await reversing.query("BEGIN");
  await reversing.query(
    `UPDATE claim SET state = 'submitting', credit_state = 'none', credit_epoch = credit_epoch + 1, included_block = NULL,
       included_hash = NULL, included_tx = NULL, included_log = NULL, included_at = NULL, settled_by = NULL`,
  );
  const settled = paid.settle();
  await until(isAnyWaiting, "the grant waits for the reversal");
  await reversing.query("COMMIT");
  // then
  expect(await settled).toMatchObject({
    status: 200,
    body: { success: false, errorReason: "settlement_pending" },
  });
  expect(await claimOf(world.database, paid.nonce)).toMatchObject({ granted: false });
});

async function grantedTo(): Promise<string> {
  const [row] = await world.database.query<{ id: string }>("SELECT success_granted_to AS id FROM claim");
  return row?.id ?? "";
}
