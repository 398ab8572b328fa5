import { assert } from "#kernel/fault";

/** Where a subscription stands. Source: merchant-api.md §1.8. */
export const subscriptionStates = ["active", "past-due", "paused", "cancelled"] as const;
export type SubscriptionState = (typeof subscriptionStates)[number];
export type SubscriptionTrigger = "fall-behind" | "recover" | "pause" | "resume" | "cancel";

type Steps = Partial<Record<SubscriptionTrigger, SubscriptionState>>;

/** What leads where. Whether one that is resumed is past due is seen right after. */
const subscriptionTransitions = {
  active: { "fall-behind": "past-due", pause: "paused", cancel: "cancelled" },
  "past-due": { recover: "active", pause: "paused", cancel: "cancelled" },
  paused: { resume: "active", cancel: "cancelled" },
  cancelled: {},
} as const satisfies Record<SubscriptionState, Steps>;

/** Where `trigger` leads from `from`. A step that the table has not is a bug. Pure. */
export function advance(from: SubscriptionState, trigger: SubscriptionTrigger): SubscriptionState {
  const { [trigger]: to }: Steps = subscriptionTransitions[from];
  assert(to, `a subscription that is ${from} does not ${trigger}`);
  return to;
}

/** Cycles are issued. */
export function isBilling(state: SubscriptionState): boolean {
  return state === "active" || state === "past-due";
}
