import { and, eq, gt } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { isId } from "#kernel/id";
import type { Executor, Tx } from "#store";
import { clearing, clearingDeposit } from "../../clearing/tables.ts";
import { fault } from "../../http/faults.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { defaultDestination } from "../destination.ts";
import type { RefundDesk } from "./reserve.ts";

/** A payment as refunds see it. `clearing` is null while nobody has begun to pay. */
export interface Payment {
  readonly intent: typeof paymentIntent.$inferSelect;
  readonly clearing: typeof clearing.$inferSelect | null;
}

/** A merchant's payment, by the id of its intent or of its clearing. Fault: `not_found`. */
export async function findPayment(db: Executor, merchantId: string, id: string): Promise<Payment> {
  const isIt = isId("pi", id) ? eq(paymentIntent.id, id) : isId("clr", id) ? eq(clearing.id, id) : null;
  if (!isIt) throw fault("not_found");
  const [row] = await db
    .select({ intent: paymentIntent, clearing })
    .from(paymentIntent)
    .leftJoin(
      clearing,
      and(eq(clearing.merchantId, paymentIntent.merchantId), eq(clearing.intentId, paymentIntent.id)),
    )
    .where(and(eq(paymentIntent.merchantId, merchantId), isIt));
  if (!row) throw fault("not_found");
  return row;
}

/** The same with its clearing held until the transaction ends: refunds of one payment are made one after the other. */
export async function lockPayment(tx: Tx, merchantId: string, intentId: string): Promise<Payment> {
  await tx
    .select({ id: clearing.id })
    .from(clearing)
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.intentId, intentId as `pi_${string}`)))
    .for("update");
  return findPayment(tx, merchantId, intentId);
}

/** Whom a refund of a payment goes to by itself; null when nobody can tell. Asks the chain where it must, so it comes
 *  before any transaction. Fault: `chain_unavailable`. */
export async function payerOf(
  { facilitator }: Pick<RefundDesk, "facilitator">,
  db: Executor,
  { intent, clearing: paid }: Payment,
): Promise<Address | null> {
  if (paid?.provider !== "evm") return null;
  const { executionPath, providerReference } = paid;
  const senders =
    executionPath === "x402"
      ? (await facilitator.payments({ ids: [providerReference ?? ""] })).map(({ payer }) => payer)
      : await sendersOf(db, paid);
  const found = defaultDestination({ executionPath, senders, declared: intent.payerAddress });
  if (!found || "to" in found) return found?.to ?? null;
  return (await facilitator.hasCode(paid.chain, found.ask)) ? null : found.ask;
}

/** Who sent the deposits that counted. */
async function sendersOf(db: Executor, { merchantId, id }: NonNullable<Payment["clearing"]>) {
  const rows = await db
    .selectDistinct({ sender: clearingDeposit.sender })
    .from(clearingDeposit)
    .where(
      and(
        eq(clearingDeposit.merchantId, merchantId),
        eq(clearingDeposit.clearingId, id),
        gt(clearingDeposit.toClearing, 0n),
      ),
    );
  return rows.map(({ sender }) => sender);
}
