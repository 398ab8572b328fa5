import type { Address } from "#kernel/bytes";
import type { Executor } from "#store";
import { type Payment, paidBy } from "../../clearing/verbs/payment.ts";
import { defaultDestination } from "../destination.ts";
import type { RefundDesk } from "./reserve.ts";

/** Whom a refund of a payment goes to by itself; null when nobody can tell. Asks the chain where it must, so it comes
 *  before any transaction. Fault: `chain_unavailable`. */
export async function payerOf(
  { facilitator }: RefundDesk,
  db: Executor,
  { intent, clearing: paid }: Payment,
): Promise<Address | null> {
  if (paid?.provider !== "evm") return null;
  const { executionPath, providerReference } = paid;
  const senders =
    executionPath === "x402"
      ? (await facilitator.payments({ ids: [providerReference ?? ""] })).map(({ payer }) => payer)
      : (await paidBy(db, paid)).map(({ sender }) => sender);
  const declared = intent.payerDeclared ? intent.payerAddress : null;
  const found = defaultDestination({ executionPath, senders, declared });
  if (!found || "to" in found) return found?.to ?? null;
  return (await facilitator.hasCode(paid.chain, found.ask)) ? null : found.ask;
}
