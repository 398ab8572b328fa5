import { eq, sql } from "drizzle-orm";
import type { Tx } from "#store";
import type { PayableRow } from "../../payable/row.ts";
import { payable } from "../../payable/tables.ts";
import { claim } from "./tables.ts";

/** Who holds what can be paid once: an authorization, or money that a payer sent by itself. */
export type Holder =
  | { readonly by: "authorization"; readonly paymentId: `stl_${string}`; readonly isCredited: boolean }
  | { readonly by: "payment" };

/** Holds a once-payable for a payment whose money came by itself, in the transaction that saw the money. False when
 *  something else holds it, or it can be paid no more. What holds it already keeps it. `payment` is also the id of its own
 *  payable, if it has one, which is locked first, as claims do. */
export async function takeOnce(
  tx: Tx,
  { payableId, payment }: { readonly payableId: string; readonly payment: string },
): Promise<boolean> {
  await tx.select({ id: payable.id }).from(payable).where(eq(payable.id, payment)).for("update");
  const { rows } = await tx.execute(sql`
    UPDATE payable SET held_for = ${payment}
    WHERE id = ${payableId} AND (held_for = ${payment} OR (held_for IS NULL
      AND (closed_at IS NULL OR closed_as = 'paid')
      AND (held_by IS NULL OR EXISTS (
        SELECT 1 FROM claim WHERE claim.claim_key = payable.held_by AND claim.payable_id = ${payment}))))
    RETURNING id`);
  return rows.length === 1;
}

/** Gives it back when that payment ended unpaid. */
export async function leaveOnce(
  tx: Tx,
  { payableId, payment }: { readonly payableId: string; readonly payment: string },
): Promise<void> {
  await tx.execute(sql`UPDATE payable SET held_for = NULL WHERE id = ${payableId} AND held_for = ${payment}`);
}

/** Who holds it, and keeps everybody else out until the transaction ends; null when nobody does. What is a way to pay
 *  something else is held by an authorization that goes this way. */
export async function lockOnce(tx: Tx, payableId: string): Promise<Holder | null> {
  const [row] = await tx
    .select({ heldBy: payable.heldBy, heldFor: payable.heldFor, heldAs: payable.heldAs })
    .from(payable)
    .where(eq(payable.id, payableId))
    .for("update");
  if (!row) return null;
  const authorization = await holdingClaim(tx, payableId, row);
  if (authorization) return { by: "authorization", ...authorization };
  return row.heldFor ? { by: "payment" } : null;
}

async function holdingClaim(
  tx: Tx,
  payableId: string,
  { heldBy, heldAs }: Pick<PayableRow, "heldBy" | "heldAs">,
) {
  const thisWay = sql`${claim.payableId} = ${payableId} AND ${claim.claimKey} = (
    SELECT ${payable.heldBy} FROM ${payable} WHERE ${payable.id} = ${heldAs})`;
  if (heldAs === null && heldBy === null) return null;
  const [found] = await tx
    .select({ paymentId: claim.id, creditState: claim.creditState })
    .from(claim)
    .where(heldBy === null ? thisWay : eq(claim.claimKey, heldBy));
  return found ? { paymentId: found.paymentId, isCredited: found.creditState !== "none" } : null;
}
