import type { OutgoingStatus } from "#facilitator";
import { assert } from "#kernel/fault";

/** Where a refund stands. Terminal: succeeded, failed, cancelled. Source: merchant-api.md §1.5. */
export const refundStates = [
  "requires-destination",
  "pending",
  "processing",
  "succeeded",
  "failed",
  "cancelled",
] as const;
export type RefundState = (typeof refundStates)[number];
export type RefundTrigger = "address" | "send" | "succeed" | "fail" | "cancel";

type Steps = Partial<Record<RefundTrigger, RefundState>>;

/** What leads where. A refund is born `pending`, or `requires-destination` where nobody can tell whom to pay. */
export const refundTransitions = {
  "requires-destination": { address: "pending", cancel: "cancelled" },
  pending: { send: "processing", cancel: "cancelled" },
  processing: { succeed: "succeeded", fail: "failed" },
  succeeded: {},
  failed: {},
  cancelled: {},
} as const satisfies Record<RefundState, Steps>;

/** Where `trigger` leads from `from`. A step that the table has not is a bug. Pure. */
export function advance(from: RefundState, trigger: RefundTrigger): RefundState {
  const { [trigger]: to }: Steps = refundTransitions[from];
  assert(to, `a refund that is ${from} does not ${trigger}`);
  return to;
}

export function isOver(state: RefundState): boolean {
  return Object.keys(refundTransitions[state]).length === 0;
}

/** What still counts against a payment: it is on its way, or has gone. */
export const countedStates = refundStates.filter((state) => state !== "failed" && state !== "cancelled");

const sending = ["send"] as const;
/** What a refund goes through to be where its order is; what it has behind it is left out. */
const behind = {
  queued: [],
  cancelled: ["cancel"],
  sending,
  sent: sending,
  final: ["send", "succeed"],
  failed: ["send", "fail"],
} as const satisfies Record<OutgoingStatus["state"], readonly RefundTrigger[]>;

/** The steps that bring a refund up to where the lanes are with its money; none when it is there, or beyond: what is
 *  read late tells nothing new. Pure. */
export function stepsTo(state: RefundState, order: OutgoingStatus["state"]): readonly RefundTrigger[] {
  const steps: readonly RefundTrigger[] = behind[order];
  if (state === "pending") return steps;
  return state === "processing" ? steps.filter((step) => step === "succeed" || step === "fail") : [];
}
