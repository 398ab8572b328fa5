import { assert } from "#kernel/fault";
import { type ClearingState, type IntentStatus, statusOf } from "../payment-intent/state.ts";

export { type ClearingState, clearingStates } from "../payment-intent/state.ts";

/** What moves a clearing on. */
export const clearingTriggers = [
  "lock",
  "switch",
  "detect",
  "lose",
  "receive",
  "settle",
  "credit",
  "back-off",
  "fail",
  "expire",
  "review",
  "accept",
  "return",
  "extend",
  "reopen",
  "cancel",
  "reverse",
] as const;
export type ClearingTrigger = (typeof clearingTriggers)[number];

type Steps<Trigger extends string, State> = Readonly<Partial<Record<Trigger, State>>>;

/** Which trigger leads where. Source: merchant-api.md §1.2. */
export const clearingTransitions: Readonly<Record<ClearingState, Steps<ClearingTrigger, ClearingState>>> = {
  created: { lock: "awaiting-funds", fail: "failed", cancel: "cancelled" },
  "awaiting-funds": {
    switch: "awaiting-funds",
    detect: "funds-detected",
    fail: "failed",
    expire: "expired",
    review: "in-review",
    cancel: "cancelled",
  },
  "funds-detected": {
    lose: "awaiting-funds",
    receive: "funds-received",
    fail: "failed",
    expire: "expired",
    review: "in-review",
  },
  "funds-received": { settle: "settling", fail: "failed", review: "in-review" },
  settling: { credit: "settled", "back-off": "funds-received", fail: "failed", review: "in-review" },
  settled: { reverse: "reversed" },
  "in-review": { accept: "funds-received", return: "returned", extend: "awaiting-funds" },
  // Money that shows up afterwards is never stuck behind an end.
  expired: { reopen: "funds-received", review: "in-review" },
  failed: { reopen: "funds-received", detect: "funds-detected", review: "in-review" },
  cancelled: { review: "in-review" },
  returned: {},
  reversed: { detect: "funds-detected", fail: "failed" },
};

/** What moves an intent on; all but the first three come from its clearing. */
export const intentTriggers = [
  "confirm",
  "expire",
  "cancel",
  "settle",
  "fail",
  "reopen",
  "detect",
  "review",
  "reverse",
] as const;
export type IntentTrigger = (typeof intentTriggers)[number];

/** Source: merchant-api.md §1.1. */
export const intentTransitions: Readonly<Record<IntentStatus, Steps<IntentTrigger, IntentStatus>>> = {
  created: { confirm: "clearing", expire: "expired", cancel: "cancelled" },
  clearing: { settle: "completed", fail: "failed", expire: "expired", cancel: "cancelled" },
  completed: { reverse: "failed" },
  failed: { reopen: "clearing", detect: "clearing", review: "clearing" },
  expired: { reopen: "clearing", review: "clearing" },
  cancelled: { review: "clearing" },
};

/** Where `trigger` leads from `from`. Asserts that the table has such a step: anything else is a mistake of ours. */
export function advance(from: ClearingState, trigger: ClearingTrigger): ClearingState {
  const to = clearingTransitions[from][trigger];
  assert(to !== undefined, `a clearing that is ${from} cannot ${trigger}`);
  return to;
}

/** The same for an intent. */
export function advanceIntent(from: IntentStatus, trigger: IntentTrigger): IntentStatus {
  const to = intentTransitions[from][trigger];
  assert(to !== undefined, `an intent that is ${from} cannot ${trigger}`);
  return to;
}

/** The status of an intent whose clearing is now in this state. Asserts that the intent's table has such a step. */
export function follow(from: IntentStatus, state: ClearingState): IntentStatus {
  const to = statusOf[state];
  const isStep = to === from || Object.values(intentTransitions[from]).includes(to);
  assert(isStep, `an intent that is ${from} cannot become ${to}`);
  return to;
}

const busy: ReadonlySet<ClearingState> = new Set([
  "created",
  "awaiting-funds",
  "funds-detected",
  "funds-received",
  "settling",
]);

/** Its money is still on its way: nothing of it can be sent back. */
export function isBusy(state: ClearingState): boolean {
  return busy.has(state);
}

/** What the world is told of a step. Source: merchant-api.md §1.11. */
export const factsOfTrigger: Readonly<Record<ClearingTrigger, readonly PaymentFact[]>> = {
  lock: ["payment.clearing"],
  switch: [],
  detect: ["payment.funds_detected"],
  lose: [],
  receive: ["payment.funds_received"],
  settle: [],
  credit: ["payment.completed"],
  "back-off": [],
  fail: ["payment.failed"],
  expire: ["payment.expired"],
  review: ["payment.review_required"],
  accept: ["payment.funds_received"],
  return: ["payment.returned"],
  extend: ["payment.reopened"],
  reopen: ["payment.reopened", "payment.funds_received"],
  cancel: ["payment.cancelled"],
  reverse: ["payment.reversed"],
};

/** Every fact about a merchant's payment. Subject: the clearing's id, or the intent's where there is no clearing. */
export type PaymentFact =
  | "payment.created"
  | "payment.clearing"
  | "payment.funds_detected"
  | "payment.funds_received"
  | "payment.completed"
  | "payment.failed"
  | "payment.expired"
  | "payment.cancelled"
  | "payment.review_required"
  | "payment.returned"
  | "payment.reversed"
  | "payment.reopened"
  | "payment.overpaid";

/** What an entry of the list of deposits says of the money. Source: merchant-api.md §1.3. */
export const depositStatuses = [
  "seen",
  "confirming",
  "confirmed",
  "credited",
  "orphaned",
  "late",
  "returned",
  "ignored",
] as const;
export type DepositStatus = (typeof depositStatuses)[number];

/** Of money that goes back: it leaves once what it is part of is final. */
export const returnStates = ["decided", "sending", "sent", "failed"] as const;
export type ReturnState = (typeof returnStates)[number];

export const orderStates = ["active", "superseded", "expired", "consumed"] as const;
export type OrderState = (typeof orderStates)[number];
