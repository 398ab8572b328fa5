import type { ApiFaultSpec } from "./spec.ts";

/** Money that goes out: refunds, payouts and the address book. */
export const outgoingFaults = {
  destination_required: {
    kind: "unprocessable",
    title: "Destination required",
    detail:
      "The money came from {sender}, and nobody has said that this is the payer's own: an exchange could not tell whose it is. Send destination.",
  },
  insufficient_balance: {
    kind: "unprocessable",
    title: "Insufficient balance",
    detail:
      "Less than {amount} {asset} is available on {chain}. GET /v1/balances tells what is; money that is not final yet, or promised to a refund, cannot be spent.",
  },
  payment_not_refundable: {
    kind: "conflict",
    title: "Payment not refundable",
    detail: "This payment cannot be refunded: {why}. GET /v1/payments/{id} tells where it stands.",
  },
  refund_exceeds_refundable: {
    kind: "unprocessable",
    title: "More than is refundable",
    detail:
      "Of this payment {refundable} {asset} can still be refunded. Ask for less, or leave the amount out for all of it.",
  },
  asset_mismatch: {
    kind: "unprocessable",
    title: "Another asset",
    detail: "A refund of this payment is in {units}, as it was paid.",
  },
  refund_has_destination: {
    kind: "conflict",
    title: "Destination known",
    detail:
      "The refund is {state}, and where it goes is settled. Cancel it while it is pending, and make another.",
  },
  refund_not_cancellable: {
    kind: "conflict",
    title: "Refund not cancellable",
    detail:
      "The refund is {state}: it has been signed, may have left, or has ended. Read it again to see where it stands.",
  },
  payout_address_unknown: {
    kind: "unprocessable",
    title: "Payout address unknown",
    detail:
      "{destination} is not in the address book of {chain}. Add it with POST /v1/payout-addresses first.",
  },
  payout_address_limit: {
    kind: "conflict",
    title: "Too many payout addresses",
    detail: "A merchant has at most {most} payout addresses. Remove one that is not needed any more.",
  },
  payout_address_cooling: {
    kind: "conflict",
    title: "Payout address too new",
    detail: "{destination} can be paid from {usableFrom} on.",
  },
  payout_not_cancellable: {
    kind: "conflict",
    title: "Payout not cancellable",
    detail:
      "The payout is {state}: it has been signed, may have left, or has ended. Read it again to see where it stands.",
  },
} as const satisfies Record<string, ApiFaultSpec>;
