import { and, asc, inArray, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { Fault } from "#kernel/fault";
import { type Executor, fixed, type Tx } from "#store";
import { cancelPayment } from "../../clearing/verbs/cancel.ts";
import type { ClearingState } from "../../payment-intent/state.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import type { IntentRow } from "../../payment-intent/verbs/offer.ts";
import type { InvoiceRow } from "../present.ts";
import type { InvoiceDesk } from "./desk.ts";

type Named = Pick<InvoiceRow, "merchantId" | "id">;

/** What an intent for an invoice is made by. */
export const invoiceSources = ["invoice", "subscription"] as const;

/** What an intent for an invoice says of where it comes from. */
export function originOf({ id, subscriptionId, cycleIndex }: InvoiceRow): Record<string, string> {
  return { invoiceId: id, ...(subscriptionId && { subscriptionId, cycleIndex: String(cycleIndex) }) };
}

/** Intents for this invoice that could still be paid, oldest first. */
export async function liveIntents(db: Executor, { merchantId, id }: Named): Promise<readonly IntentRow[]> {
  return db
    .select()
    .from(paymentIntent)
    .where(
      and(
        sql`${paymentIntent.merchantId} = ${merchantId}`,
        sql`metadata ? 'invoiceId' AND metadata->>'invoiceId' = ${id}`,
        inArray(paymentIntent.source, [...invoiceSources]),
        fixed(inArray(paymentIntent.status, ["created", "clearing"])),
      ),
    )
    .orderBy(asc(paymentIntent.id));
}

/** Agents' payments of these intents; asked before a transaction. */
export async function agentsPayments(
  desk: InvoiceDesk,
  db: Executor,
  named: Named,
): Promise<readonly PaymentView[]> {
  const intents = await liveIntents(db, named);
  return intents.length === 0 ? [] : desk.facilitator.payments({ payableIds: intents.map(({ id }) => id) });
}

const unfunded: ReadonlySet<ClearingState | null> = new Set([null, "created", "awaiting-funds"]);

/** Whether no money of it was seen yet. */
export function isUnfunded({ clearingState }: Pick<IntentRow, "clearingState">): boolean {
  return unfunded.has(clearingState);
}

/** A payment of the invoice that money has come for. */
export interface UnderWay {
  /** Of its page; null for whom it is not to be told. */
  readonly intentId: IntentRow["id"] | null;
}

/** The payment that whoever is at the invoice's page has to wait for, or send the rest to. Of an invoice that is or was
 *  listed it is not told which: anybody may have found that. */
export async function paymentUnderWay(db: Executor, row: InvoiceRow): Promise<UnderWay | null> {
  const funded = (await liveIntents(db, row)).filter((each) => !isUnfunded(each));
  const first = funded.find(({ clearingState }) => clearingState !== "in-review") ?? funded[0];
  return first ? { intentId: row.wasListed ? null : first.id } : null;
}

/** Cancels an intent as far as no money is on its way; whether it could be. */
export async function cancelUnfunded(
  tx: Tx,
  desk: InvoiceDesk,
  { merchantId, id }: Pick<IntentRow, "merchantId" | "id">,
  payments: readonly PaymentView[],
): Promise<boolean> {
  const own = payments.filter(({ payableId }) => payableId === id);
  try {
    await cancelPayment(tx, desk, { merchantId, id, payments: own });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === "intent_not_cancellable") return false;
    throw error;
  }
}
