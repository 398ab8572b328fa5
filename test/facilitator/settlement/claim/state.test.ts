import { describe, expect, it } from "vitest";
import {
  type ClaimState,
  claimStates,
  isChargeable,
  leadingTo,
  statusName,
  transitions,
} from "../../../../facilitator/settlement/claim/state.ts";

const terminal: readonly ClaimState[] = ["final", "expired", "cancelled"];
const next = (state: ClaimState): readonly ClaimState[] => transitions[state];

function reachableFrom(start: ClaimState): ReadonlySet<ClaimState> {
  const found = new Set<ClaimState>([start]);
  for (const state of found) for (const to of next(state)) found.add(to);
  return found;
}

describe("the states of a claim", () => {
  it("all follow from a claim, and from each of them an end can be reached", () => {
    expect([...reachableFrom("claimed")].sort()).toEqual([...claimStates].sort());
    for (const state of claimStates) expect(terminal.some((end) => reachableFrom(state).has(end))).toBe(true);
  });

  it("end where nothing leads away, and only there", () => {
    expect(claimStates.filter((state) => next(state).length === 0)).toEqual(terminal);
  });

  it("know their predecessors: the one table, read backwards", () => {
    for (const to of claimStates)
      expect(leadingTo(to)).toEqual(claimStates.filter((from) => next(from).includes(to)));
  });

  it("never turn money that is booked into a failure", () => {
    expect(next("included").filter((to) => ["failed-watch", "expired", "cancelled"].includes(to))).toEqual(
      [],
    );
  });

  it("can be charged until they end", () => {
    expect(claimStates.filter((state) => !isChargeable(state))).toEqual(terminal);
  });

  it("are shown by the words of the interface; a credit that was taken away shows as reversed", () => {
    const shown = (reversed: boolean) =>
      Object.fromEntries(claimStates.map((state) => [state, statusName(state, reversed)]));
    expect(shown(false)).toEqual({
      claimed: "pending",
      submitting: "pending",
      included: "settled",
      final: "final",
      "failed-watch": "failed",
      review: "review",
      expired: "expired",
      cancelled: "cancelled",
    });
    expect(shown(true)).toEqual({ ...shown(false), claimed: "reversed", submitting: "reversed" });
  });
});
