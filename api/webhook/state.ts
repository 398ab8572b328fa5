import { assert } from "#kernel/fault";

/** Where the delivery of one event to one endpoint stands. */
export const deliveryStates = ["pending", "succeeded", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const deliveryTriggers = ["succeed", "back-off", "give-up", "send-again"] as const;
export type DeliveryTrigger = (typeof deliveryTriggers)[number];

/** Which trigger leads where. Whatever became of it, a merchant can have an event sent again. */
export const deliveryTransitions: Readonly<
  Record<DeliveryState, Readonly<Partial<Record<DeliveryTrigger, DeliveryState>>>>
> = {
  pending: { succeed: "succeeded", "back-off": "pending", "give-up": "failed", "send-again": "pending" },
  succeeded: { "send-again": "pending" },
  failed: { "send-again": "pending" },
};

/** Where `trigger` leads from `from`. Asserts that the table has such a step: anything else is a mistake of ours. */
export function advance(from: DeliveryState, trigger: DeliveryTrigger): DeliveryState {
  const to = deliveryTransitions[from][trigger];
  assert(to !== undefined, `a delivery that is ${from} cannot ${trigger}`);
  return to;
}

/** Why nothing is sent to an endpoint: its merchant said so, it answered 410, or it failed for days. */
export const disabledReasons = ["requested", "gone", "failing"] as const;
export type DisabledReason = (typeof disabledReasons)[number];
