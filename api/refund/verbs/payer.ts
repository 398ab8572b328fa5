import type { Address } from "#kernel/bytes";
import type { Executor } from "#store";
import { type ClearingRow, type Payment, paidBy } from "../../clearing/verbs/payment.ts";
import { defaultDestination } from "../destination.ts";
import type { RefundDesk } from "./reserve.ts";

/** Whom a refund of a payment goes to by itself; null when nobody can tell. Asks the chain where it must, so it comes
 *  before any transaction. Fault: `chain_unavailable`. */
export async function payerOf(
  { facilitator }: Pick<RefundDesk, "facilitator">,
  db: Executor,
  { intent, clearing: paid }: Payment,
): Promise<Address | null> {
  if (paid?.provider !== "evm") return null;
  const senders = await sendersOf({ facilitator }, db, paid);
  const declared = intent.payerDeclared ? intent.payerAddress : null;
  const found = defaultDestination({ executionPath: paid.executionPath, senders, declared });
  if (!found || "to" in found) return found?.to ?? null;
  return (await facilitator.hasCode(paid.chain, found.ask)) ? null : found.ask;
}

/** Whose money a settled payment was paid with. */
export async function sendersOf(
  { facilitator }: { readonly facilitator: Pick<RefundDesk["facilitator"], "payments"> },
  db: Executor,
  paid: ClearingRow,
): Promise<readonly Address[]> {
  if (paid.executionPath !== "x402") return (await paidBy(db, paid)).map(({ sender }) => sender);
  const payments = await facilitator.payments({ ids: [paid.providerReference ?? ""] });
  return payments.map(({ payer }) => payer);
}
