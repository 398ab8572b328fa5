import { describe, expect, it } from "vitest";
import {
  advance,
  countedStates,
  isOver,
  type RefundState,
  type RefundTrigger,
  refundStates,
  refundTransitions,
  stepsTo,
} from "../../../api/refund/state.ts";

const triggers: readonly RefundTrigger[] = ["address", "send", "succeed", "fail", "cancel"];
const terminal: readonly RefundState[] = ["succeeded", "failed", "cancelled"];

const legal: readonly (readonly [from: RefundState, trigger: RefundTrigger, to: RefundState])[] = [
  ["requires-destination", "address", "pending"],
  ["requires-destination", "cancel", "cancelled"],
  ["pending", "send", "processing"],
  ["pending", "cancel", "cancelled"],
  ["processing", "succeed", "succeeded"],
  ["processing", "fail", "failed"],
];
const isLegal = (from: RefundState, trigger: RefundTrigger) =>
  legal.some(([state, step]) => state === from && step === trigger);

describe("the states of a refund", () => {
  it.each(legal)("%s, %s → %s", (from, trigger, to) => {
    expect(advance(from, trigger)).toBe(to);
  });

  const illegal = refundStates.flatMap((from) =>
    triggers.filter((trigger) => !isLegal(from, trigger)).map((trigger) => [from, trigger] as const),
  );
  it.each(illegal)("%s does not %s: a bug", (from, trigger) => {
    expect(() => advance(from, trigger)).toThrow(`a refund that is ${from} does not ${trigger}`);
  });

  it("are all in the table, which has no steps beside these", () => {
    expect(Object.keys(refundTransitions).sort()).toEqual([...refundStates].sort());
    expect(Object.values(refundTransitions).flatMap(Object.keys)).toHaveLength(legal.length);
  });

  it("end where nothing leads away, and what has ended without paying counts no more", () => {
    expect(refundStates.filter(isOver)).toEqual(terminal);
    expect(countedStates).toEqual(["requires-destination", "pending", "processing", "succeeded"]);
  });
});

describe("following its order", () => {
  it.each([
    ["queued", []],
    ["sending", ["send"]],
    ["sent", ["send"]],
    ["final", ["send", "succeed"]],
    ["failed", ["send", "fail"]],
    ["cancelled", ["cancel"]],
  ] as const)("a pending one whose order is %s goes through %j", (order, steps) => {
    expect(stepsTo("pending", order)).toEqual(steps);
  });

  it.each([
    ["queued", []],
    ["sending", []],
    ["sent", []],
    ["final", ["succeed"]],
    ["failed", ["fail"]],
    ["cancelled", []],
  ] as const)("one in process whose order is %s goes through %j", (order, steps) => {
    expect(stepsTo("processing", order)).toEqual(steps);
  });

  it("one that waits for an address, or is over, goes nowhere; and every step given is legal", () => {
    const orders = ["queued", "sending", "sent", "final", "failed", "cancelled"] as const;
    for (const order of orders) {
      for (const state of ["requires-destination", ...terminal] as const)
        expect([state, order, stepsTo(state, order)]).toEqual([state, order, []]);
      for (const state of refundStates)
        expect(refundStates).toContain(stepsTo(state, order).reduce(advance, state));
    }
  });
});
