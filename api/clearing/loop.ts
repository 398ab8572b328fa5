import { sql } from "drizzle-orm";
import { outbox } from "#store";
import { paymentIntent } from "../payment-intent/tables.ts";
import { intentFact } from "../payment-intent/verbs/create.ts";
import type { ClearingDesk } from "./desk.ts";
import { leadDue } from "./lead.ts";
import { advanceIntent } from "./state.ts";

/** Work that repeats and moves money on: a query over its own rows, so a turn that is lost loses nothing. */
export interface MoneyLoop {
  readonly name: string;
  readonly everyMs: number;
  /** One turn; how much was done. */
  turn(): Promise<number>;
  /** Ends what turns have left under way; after the last one. */
  stop?(): Promise<void>;
}

const GROUP = 200;

/** What in the house of clearing goes on without being asked. */
export function clearingLoops(desk: ClearingDesk): readonly MoneyLoop[] {
  return [
    { name: "clearing", everyMs: 200, turn: () => leadDue(desk) },
    { name: "expire-intents", everyMs: 15_000, turn: () => expireIntents(desk) },
  ];
}

/** Ends what was never confirmed in its time; how many. Agents cannot pay it from that instant on, told or not. */
async function expireIntents({
  db,
  newId,
  now,
}: Pick<ClearingDesk, "db" | "newId" | "now">): Promise<number> {
  const at = now();
  const status = advanceIntent("created", "expire");
  return db.tx(async (tx) => {
    const ended = await tx
      .update(paymentIntent)
      .set({ status, updatedAt: at })
      .where(
        sql`(${paymentIntent.merchantId}, ${paymentIntent.id}) IN (
          SELECT merchant_id, id FROM payment_intent WHERE status = 'created' AND expires_at <= ${at.toISOString()}
          ORDER BY expires_at LIMIT ${GROUP} FOR UPDATE SKIP LOCKED)`,
      )
      .returning({ id: paymentIntent.id, merchantId: paymentIntent.merchantId });
    await outbox.append(
      tx,
      ended.map((row) => intentFact(newId, row, "payment.expired", "created")),
    );
    return ended.length;
  });
}
