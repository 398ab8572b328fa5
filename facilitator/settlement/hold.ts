import { eq, sql } from "drizzle-orm";
import type { Tx } from "#store";
import { payable } from "../payable/tables.ts";

/** Who holds what can be paid once: an authorization, or money that a payer sent by itself. */
export interface Holder {
  readonly by: "authorization" | "payment";
}

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
  const isByAuthorization =
    row.heldAs === null ? row.heldBy !== null : await isHeldThisWay(tx, { payableId, heldAs: row.heldAs });
  if (isByAuthorization) return { by: "authorization" };
  return row.heldFor ? { by: "payment" } : null;
}

async function isHeldThisWay(
  tx: Tx,
  { payableId, heldAs }: { readonly payableId: string; readonly heldAs: string },
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    SELECT 1 FROM payable JOIN claim ON claim.claim_key = payable.held_by
    WHERE payable.id = ${heldAs} AND claim.payable_id = ${payableId}`);
  return rows.length > 0;
}
