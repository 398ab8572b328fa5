import { and, asc, eq } from "drizzle-orm";
import type { Database } from "#store";
import { paymentLink } from "../tables.ts";
import { type Publishing, publishLink } from "./publish.ts";
import { isPayable, lockLink } from "./standing.ts";

/** What telling of links anew needs. */
export interface Republishing extends Publishing {
  readonly db: Database;
  readonly now: () => Date;
}

/** Tells the facilitator anew of what a merchant's links can be paid with by agents, after its rails changed. One that cannot
 *  be paid now is told of when it can be. Each is locked first, so that a change of the link meanwhile does not bring
 *  the old rails back. */
export async function republishLinks(
  desk: Republishing,
  merchantId: string,
  stopping: AbortSignal,
): Promise<void> {
  const { db, now } = desk;
  const ids = await db.pool
    .select({ id: paymentLink.id })
    .from(paymentLink)
    .where(and(eq(paymentLink.merchantId, merchantId), isPayable(now())))
    .orderBy(asc(paymentLink.id));
  for (const { id } of ids) {
    // Thrown, so that the rest is done by another run.
    if (stopping.aborted) throw new Error("stopped");
    await db.tx(async (tx) => publishLink(desk, tx, await lockLink(tx, now(), { merchantId, id }), now()));
  }
}
