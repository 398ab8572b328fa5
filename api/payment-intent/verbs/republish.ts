import { and, asc, eq, gt, isNotNull } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import { type Database, fixed, type Tx } from "#store";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { NOWHERE, type Taker, takesAny } from "../../merchant/verbs/rails.ts";
import type { IntentRow } from "../present.ts";
import { paymentIntent } from "../tables.ts";
import { nameableRails, type Offer, offerAtParity, publishIntent, railName } from "./offer.ts";
import { lockIntent } from "./read.ts";

/** What telling of intents anew needs. */
export interface Republishing {
  readonly db: Database;
  readonly facilitator: Pick<Facilitator, "rails" | "refusedRails" | "project">;
  readonly baseUrl: string;
  readonly now: () => Date;
}

/** Offers a merchant's intents to agents anew, after its rails changed: those that nobody has begun to pay. What they ask
 *  for stays, also the token of a locked rate. */
export async function republishIntents(
  desk: Republishing,
  merchantId: string,
  stopping: AbortSignal,
): Promise<void> {
  const { db, now } = desk;
  const ids = await db.pool
    .select({ id: paymentIntent.id })
    .from(paymentIntent)
    .where(
      and(
        eq(paymentIntent.merchantId, merchantId),
        fixed(eq(paymentIntent.status, "created")),
        isNotNull(paymentIntent.offerRails),
        gt(paymentIntent.expiresAt, now()),
      ),
    )
    .orderBy(asc(paymentIntent.id));
  for (const { id } of ids) {
    // Thrown, so that the rest is done by another run.
    if (stopping.aborted) throw new Error("stopped");
    await db.tx((tx) => republish(desk, tx, { merchantId, id }));
  }
}

async function republish(
  desk: Republishing,
  tx: Tx,
  { merchantId, id }: Pick<IntentRow, "merchantId" | "id">,
): Promise<void> {
  const row = await lockIntent(tx, merchantId, id);
  if (row.status !== "created") return;
  const offerRails = offeredNow(desk, row, await findMerchant(tx, merchantId)) ?? NOWHERE;
  await tx
    .update(paymentIntent)
    .set({ offerRails })
    .where(and(eq(paymentIntent.merchantId, merchantId), eq(paymentIntent.id, id)));
  await publishIntent(desk, tx, { ...row, offerRails }, null);
}

/** Null where none is left. */
function offeredNow(
  { facilitator }: Pick<Republishing, "facilitator">,
  row: IntentRow,
  payee: Taker,
): Offer["offerRails"] {
  const { asked, amount, currency: asset } = row;
  const rails = nameableRails(facilitator, payee, row);
  const isAnyTaken = takesAny(payee);
  if (row.offerRateId === null)
    return offerAtParity({ amount, asset }, rails, { ...asked, isAnyTaken })?.offerRails ?? null;
  const same = rails.filter((rail) => rail.asset === row.offerAsset);
  return same.length > 0 ? same.map(railName) : null;
}
