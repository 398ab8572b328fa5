import { unreachable } from "#kernel/fault";
import type { SettlementStatusName } from "../verify/request.ts";

/** Our own payments ride the same lanes: an authorization whose payer is the treasury. */
export const outgoingKinds = ["payout", "refund", "return"] as const;
export type OutgoingKind = (typeof outgoingKinds)[number];
/** A sweep's payer is a deposit address of ours, its payee the treasury. */
export const claimKinds = ["x402", "sweep", ...outgoingKinds] as const;
export type ClaimKind = (typeof claimKinds)[number];

export function isOutgoing(kind: ClaimKind): kind is OutgoingKind {
  return (outgoingKinds as readonly ClaimKind[]).includes(kind);
}

/** Where a claim stands. Terminal: final, expired, cancelled. */
export const claimStates = [
  "claimed",
  "submitting",
  "included",
  "final",
  "failed-watch",
  "review",
  "expired",
  "cancelled",
] as const;
export type ClaimState = (typeof claimStates)[number];

/** `none → credited → final`; a reorg raises the epoch and sets `none` again. */
export const creditStates = ["none", "credited", "final"] as const;
export type CreditState = (typeof creditStates)[number];

/** Which states may follow which. `failed-watch` is answered as failed and watched on: whoever holds the signature
 *  can submit it until it expires, and a late inclusion is credited. Straight to `final` goes what a stranger paid in a
 *  block that was final before its claim came. */
export const transitions = {
  claimed: ["submitting", "included", "final", "failed-watch", "review", "expired", "cancelled"],
  submitting: ["claimed", "included", "final", "failed-watch", "review", "expired", "cancelled"],
  included: ["final", "submitting", "claimed"],
  "failed-watch": ["claimed", "included", "final", "review", "expired", "cancelled"],
  review: ["claimed", "included", "expired", "cancelled"],
  final: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<ClaimState, readonly ClaimState[]>;

/** The states that may lead to `to`: the condition of the update that writes it. */
export function leadingTo(to: ClaimState): readonly ClaimState[] {
  return claimStates.filter((from) => (transitions[from] as readonly ClaimState[]).includes(to));
}

/** Whether the authorization can still be executed by somebody. Only a terminal row may say that it cannot. */
export function isChargeable(state: ClaimState): boolean {
  return state !== "final" && state !== "expired" && state !== "cancelled";
}

/** What the status URL shows. `everReversed`: the credit was taken away by a reorg and has not come back. */
export function statusName(state: ClaimState, everReversed: boolean): SettlementStatusName {
  switch (state) {
    case "claimed":
    case "submitting":
      return everReversed ? "reversed" : "pending";
    case "included":
      return "settled";
    case "failed-watch":
      return "failed";
    case "final":
    case "review":
    case "expired":
    case "cancelled":
      return state;
    default:
      return unreachable(state);
  }
}
