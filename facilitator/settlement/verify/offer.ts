import type { Hash } from "#kernel/bytes";
import type { FoundPayable } from "../../payable/row.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";

/** What may be done with a payable. `held`: it can be paid so often and no more, and a payment has an open outcome. */
export type PayableState = "open" | "held" | "paid" | "closed";

interface Holding {
  readonly loadClaim: (key: Hash) => Promise<ToldClaim | null>;
}

/** The state of a payable and the payment that decides it, where an authorization makes it. An open outcome comes first: while
 *  it lasts nobody may be asked to pay, and nobody can say that it is closed unpaid. */
export async function stateOf(
  { loadClaim }: Holding,
  { heldBy, closedAt, closedAs }: FoundPayable,
): Promise<{ readonly state: PayableState; readonly paymentId: string | null }> {
  const holder = heldBy === null ? null : await loadClaim(heldBy);
  const paymentId = holder?.id ?? null;
  if (holder) return { state: holder.creditState === "none" ? "held" : "paid", paymentId };
  if (closedAt === null) return { state: "open", paymentId };
  if (closedAs === "pending") return { state: "held", paymentId };
  return { state: closedAs === "paid" ? "paid" : "closed", paymentId };
}
