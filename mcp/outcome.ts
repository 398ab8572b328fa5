import type { Facilitator, Offer, Reason, SettleAnswer, SettleOutcome } from "#facilitator";
import { failure, type Next, type ToolResult } from "./result.ts";
import { isReturned, returnedNext } from "./returned.ts";

/** An outcome as one word of the tools' own. */
export function statusOf(outcome: SettleOutcome): string {
  return outcome === "bound-elsewhere" ? "refused" : outcome;
}

/** Answers that are none about the payment; null where there is one. */
export function unanswered({ outcome, reason }: SettleAnswer): ToolResult | null {
  switch (outcome) {
    case "unknown-payable":
      return failure("not_found", "Nothing payable here has this id. Nothing was charged.");
    case "idempotency-key-reused":
      return failure(
        "idempotency_key_reused",
        "This key or payment identifier was first used with another payload. Use a new one for a new payment.",
      );
    case "unavailable":
      return reason === "settlement_pending"
        ? failure(
            "unavailable",
            "We cannot say whether this was recorded. Do not sign again; repeat the identical call.",
          )
        : failure(
            "unavailable",
            "This call recorded nothing, though an earlier one may have. Do not sign again: ask get_payment_status with network, asset, payer and nonce, or repeat the identical call shortly.",
          );
    default:
      return null;
  }
}

const status = "get_payment_status";
const fixable: Next = {
  action: "fix-and-retry",
  text: "Nothing was charged. Correct what errorMessage names and try again.",
};

/** How a settle ended, as far as it decides what to do. */
type Ended = Pick<SettleAnswer, "outcome" | "reason" | "extra">;

/** Refused before the engine was asked. */
export const refusedFor = (reason: Reason): Ended => ({ outcome: "refused", reason, extra: {} });

/** Of an authorization that moved money, or may have, so that fixing and retrying could pay twice; null for any other. */
export function spentNext(reason: Reason | null): Next | null {
  switch (reason) {
    case "authorization_bound_elsewhere":
      return {
        action: "do-not-retry",
        text: "This authorization pays for something else already. Sign a fresh one for this only if you want both.",
      };
    case "invalid_exact_evm_nonce_already_used":
      return {
        action: "do-not-retry",
        text: "Its nonce is used on chain. Look at that transfer first: if it paid somebody, you were charged. Sign a fresh one only if you want to pay this as well.",
      };
    default:
      return null;
  }
}

/** What to do after a settle: to fix and retry, to leave alone because it is paid, and to wait are three things. */
export function outcomeNext({ outcome, reason, extra }: Ended): Next {
  const { chargeable } = extra;
  const spent = spentNext(reason);
  switch (outcome) {
    case "settled":
      return {
        action: "done",
        text: "Paid. Ask get_payment_status with paymentId to see it become final.",
        tool: status,
      };
    case "pending":
      return {
        action: "wait",
        text: "The outcome is open. Never sign again: ask get_payment_status with paymentId, or repeat the identical call.",
        tool: status,
      };
    case "duplicate":
      return {
        action: "do-not-retry",
        text: "This authorization was settled before, in the transaction named. It is not charged again.",
        tool: status,
      };
    case "failed":
      if (isReturned({ reason, chargeable })) return returnedNext;
      return chargeable === false
        ? (spent ?? {
            action: "fix-and-retry",
            text: "Not settled, and this authorization can never be charged. Sign a fresh one.",
          })
        : {
            action: "wait",
            text: "Not settled so far, but the signature can still be charged until validBefore. Repeat the identical call, or wait until get_payment_status says chargeable false, before you sign another.",
            tool: status,
          };
    default:
      return spent ?? fixable;
  }
}

/** Whose payment is no authorization has no id that others could ask for. */
export function underWay(paymentId: string | null): string {
  const next =
    paymentId === null
      ? "ask again in a while: it may be free then"
      : `ask ${status} with paymentId ${paymentId} how it ends`;
  return `A payment of this is under way and it can be paid once. Do not sign; ${next}.`;
}

/** What to do about something that nobody may pay now; null while it is open. */
export function standingNext({ state, paymentId }: Offer): Next | null {
  switch (state) {
    case "open":
      return null;
    case "held":
      return {
        action: "wait",
        text: underWay(paymentId),
        ...(paymentId === null ? {} : { tool: status }),
      };
    case "paid":
      return { action: "do-not-retry", text: "It is paid. Do not sign." };
    case "closed":
      return {
        action: "do-not-retry",
        text: "It cannot be paid any more. Ask whoever offered it for another.",
      };
  }
}

/** A payment is worth fixing only while what it is for is open: as it stands now, since a refusal may be the work of
 *  another payment. */
export async function nextFor(
  facilitator: Pick<Facilitator, "offer">,
  offer: Offer,
  next: Next,
): Promise<Next> {
  if (next.action !== "fix-and-retry") return next;
  const now = await facilitator.offer({ by: "id", id: offer.payable.id });
  return standingNext(now ?? offer) ?? next;
}
