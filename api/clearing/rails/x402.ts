/** What an agent's payment comes to: pure. The facilitator claims, sends, observes and books it; a clearing follows. */
import type { PaymentView } from "#facilitator";
import { unreachable } from "#kernel/fault";
import type { FailureReason } from "../../payment-intent/state.ts";
import type { ClearingState } from "../state.ts";
import type { Failure, Step } from "../timeline.ts";

/** What is known of a clearing and the agent's payment of it. */
export interface AgentStanding {
  readonly state: ClearingState;
  /** The settlement that the clearing was last led by, and its credits so far. */
  readonly settlementId: string | null;
  readonly attempt: number;
  /** It can still be paid another way. */
  readonly hasOtherWay: boolean;
}

/** The payment that counts: the credited one, else the one that is not over, else the last. */
export function leading(payments: readonly PaymentView[]): PaymentView | null {
  const isOver = ({ state }: PaymentView) => state === "expired" || state === "cancelled";
  return payments.find(isCredited) ?? payments.find((payment) => !isOver(payment)) ?? payments.at(-1) ?? null;
}

export function isCredited({ state }: Pick<PaymentView, "state">): boolean {
  return state === "included" || state === "final";
}

/** Whether money may still move by its signature. */
export function isUnderWay({ state }: Pick<PaymentView, "state">): boolean {
  return !isCredited({ state }) && state !== "expired" && state !== "cancelled";
}

/** Credits of a payment so far: the one that stands included. */
export function attemptOf({ creditEpoch }: Pick<PaymentView, "creditEpoch">): number {
  return creditEpoch + 1;
}

const REORGED: Failure = {
  code: "reorged",
  reason: "Its block left the chain. It is credited again when its transaction is mined again.",
};

/** The steps that a payment calls for; none when the clearing stands where the payment does. Source: merchant-api.md
 *  §1.9. */
export function follow(standing: AgentStanding, payment: PaymentView): readonly Step[] {
  const isTheOne = standing.settlementId === payment.id;
  if (standing.state === "settled") return whenSettled(standing, payment, isTheOne);
  switch (payment.state) {
    case "included":
    case "final":
      return toSettled(standing.state);
    case "claimed":
    case "submitting":
      return toDetected(standing.state, isTheOne);
    case "review":
      return toReview(standing.state, payment);
    case "failed-watch":
    case "expired":
    case "cancelled":
      return toUnpaid(standing, payment, isTheOne);
    default:
      return unreachable(payment.state);
  }
}

function whenSettled({ attempt }: AgentStanding, payment: PaymentView, isTheOne: boolean): readonly Step[] {
  if (!isTheOne) return [];
  const reverse: Step = { trigger: "reverse", cause: "its block left the chain", failure: REORGED };
  if (!isCredited(payment)) return [reverse];
  return attemptOf(payment) > attempt ? [reverse, ...toSettled("reversed")] : [];
}

const detect: Step = { trigger: "detect", cause: "an agent's payment was claimed" };
const receive: Step = { trigger: "receive", cause: "the chain moved its money" };
const rest: readonly Step[] = [
  { trigger: "settle", cause: "it is in the treasury" },
  { trigger: "credit", cause: "the facilitator credited it" },
];

/** The way from any state to the credit that the facilitator has given. */
function toSettled(state: ClearingState): readonly Step[] {
  switch (state) {
    case "created":
      return [{ trigger: "lock", cause: "an agent came" }, detect, receive, ...rest];
    case "awaiting-funds":
    case "failed":
    case "reversed":
      return [detect, receive, ...rest];
    case "funds-detected":
      return [receive, ...rest];
    case "funds-received":
      return rest;
    case "settling":
      return rest.slice(1);
    case "in-review":
      return [{ trigger: "accept", cause: "the chain moved its money" }, ...rest];
    case "expired":
      return [{ trigger: "reopen", cause: "the chain moved its money" }, ...rest];
    case "cancelled":
      return [
        { trigger: "review", cause: "an agent's payment came after it was cancelled" },
        ...toSettled("in-review"),
      ];
    case "settled":
    case "returned":
      return [];
    default:
      return unreachable(state);
  }
}

function toDetected(state: ClearingState, isTheOne: boolean): readonly Step[] {
  if (state === "created") return [{ trigger: "lock", cause: "an agent came" }, detect];
  if (state === "awaiting-funds") return [detect];
  // A claim that had failed is sent once more, or a new one is made.
  if (state === "failed") return [detect];
  return state === "in-review" && isTheOne
    ? [{ trigger: "extend", cause: "it goes on by itself" }, detect]
    : [];
}

function toReview(state: ClearingState, { message }: PaymentView): readonly Step[] {
  const reason =
    message ??
    "A stranger submitted its authorization, which was verified for something else first. A person decides.";
  const review: Step = {
    trigger: "review",
    cause: "the claim needs a person",
    failure: { code: "settlement_reverted", reason },
  };
  if (state === "created") return [{ trigger: "lock", cause: "an agent came" }, review];
  return state === "awaiting-funds" || state === "funds-detected" || state === "failed" ? [review] : [];
}

function toUnpaid(
  { state, hasOtherWay }: AgentStanding,
  payment: PaymentView,
  isTheOne: boolean,
): readonly Step[] {
  const failure = failureOf(payment);
  const fail: Step = { trigger: "fail", cause: `the claim is ${payment.state}`, failure };
  const lose: Step = { trigger: "lose", cause: `the claim is ${payment.state}` };
  if (state === "created") return hasOtherWay ? [{ trigger: "lock", cause: "an agent came" }] : [fail];
  if (state === "awaiting-funds") return hasOtherWay ? [] : [fail];
  if (state === "funds-detected" && isTheOne) return hasOtherWay ? [lose] : [fail];
  if (!isTheOne || payment.state === "failed-watch") return [];
  if (state === "reversed") return [fail];
  if (state !== "in-review") return [];
  const extend: Step = { trigger: "extend", cause: `the claim is ${payment.state}` };
  return hasOtherWay ? [extend] : [extend, fail];
}

const SENTENCE = "The agent's payment did not settle. Nothing was charged.";
const byReason: Readonly<Record<string, FailureReason>> = {
  insufficient_funds: "insufficient_funds",
  invalid_exact_evm_signature: "authorization_invalid",
  invalid_exact_evm_payload_authorization_valid_before: "authorization_expired",
  invalid_exact_evm_payload_authorization_valid_after: "authorization_invalid",
  invalid_exact_evm_nonce_already_used: "nonce_already_used",
};

/** The failure of a claim that ended unpaid, in the merchant's words. */
export function failureOf({ state, reason, message }: PaymentView): Failure {
  const code = codeOf({ state, reason });
  return { code, reason: message ?? SENTENCE };
}

function codeOf({ state, reason }: Pick<PaymentView, "state" | "reason">): FailureReason {
  if (state === "expired") return "authorization_expired";
  if (state === "cancelled")
    return reason === "invalid_payment_requirements" ? "review_returned" : "nonce_already_used";
  return (reason !== null && Object.hasOwn(byReason, reason) && byReason[reason]) || "settlement_reverted";
}
