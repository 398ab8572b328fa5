/** What is told of a payment is of one moment: the status of its intent never denies that of its clearing. */
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";

const world = sharedWorld();
const seller = sharedSeller(world);

/** Whoever reads clearings waits; loops lock what they read. */
async function isReaderWaiting(): Promise<boolean> {
  const waiting = await world.database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query ~ '(from|join) "clearing"' AND query !~ 'for update'`,
  );
  return waiting.length > 0;
}

it("asked while it changes", async () => {
  const { paymentIntent, clearing } = await seller.asked();
  const { position } = await world.database.db.tx(async (tx) => {
    await tx.execute(sql`LOCK TABLE clearing IN ACCESS EXCLUSIVE MODE`);
    await tx.execute(sql`UPDATE clearing SET state = 'cancelled' WHERE id = ${clearing.id}`);
    await tx.execute(
      sql`UPDATE payment_intent SET status = 'cancelled', clearing_state = 'cancelled' WHERE id = ${paymentIntent.id}`,
    );
    const position = seller.read(paymentIntent.id);
    await until(isReaderWaiting, "the reader waits");
    return { position };
  });
  expect(await position).toMatchObject({
    paymentIntent: { status: "cancelled" },
    clearing: { state: "cancelled" },
  });
});
