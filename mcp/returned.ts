import type { Reason } from "#facilitator";
import type { Next } from "./result.ts";

/** A payment of which a person decided that its money, which came, goes back. */
export function isReturned({
  reason,
  chargeable,
}: {
  readonly reason: Reason | null;
  readonly chargeable?: boolean | undefined;
}): boolean {
  return chargeable === false && reason === "invalid_payment_requirements";
}

export const returnedNext: Next = {
  action: "do-not-retry",
  text: "It was not accepted, and its money goes back to the payer. Sign another only when it is there.",
};
