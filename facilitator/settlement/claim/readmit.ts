import { and, eq, exists, ne, sql } from "drizzle-orm";
import { fixed, type Tx } from "#store";
import { payable } from "../../payable/tables.ts";
import { claim } from "./tables.ts";

/** Lets the next payer pay what one may pay at a time, once the payment that held it was credited. One whose outcome is
 *  open keeps its hold. */
export async function readmit(tx: Tx, payableId: string): Promise<void> {
  const credited = tx
    .select({ one: sql`1` })
    .from(claim)
    .where(and(eq(claim.claimKey, payable.heldBy), fixed(ne(claim.creditState, "none"))));
  await tx
    .update(payable)
    .set({ heldBy: null })
    .where(and(eq(payable.id, payableId), exists(credited)));
}
