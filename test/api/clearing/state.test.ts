import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { stateReference } from "#api";
import {
  advance,
  advanceIntent,
  type ClearingTrigger,
  clearingStates,
  clearingTransitions,
  clearingTriggers,
  depositStatuses,
  factsOfTrigger,
  follow,
  type IntentTrigger,
  intentTriggers,
} from "../../../api/clearing/state.ts";
import {
  type ClearingState,
  type IntentStatus,
  intentStatuses,
  statusOf,
} from "../../../api/payment-intent/state.ts";

/** The table of merchant-api.md §1.2, read off the page: from, to, and the word for it here. */
const legal: readonly (readonly [ClearingState, ClearingTrigger, ClearingState])[] = [
  ["created", "lock", "awaiting-funds"],
  ["created", "fail", "failed"],
  ["created", "cancel", "cancelled"],
  ["awaiting-funds", "switch", "awaiting-funds"],
  ["awaiting-funds", "detect", "funds-detected"],
  ["awaiting-funds", "fail", "failed"],
  ["awaiting-funds", "expire", "expired"],
  ["awaiting-funds", "review", "in-review"],
  ["awaiting-funds", "cancel", "cancelled"],
  ["funds-detected", "lose", "awaiting-funds"],
  ["funds-detected", "receive", "funds-received"],
  ["funds-detected", "fail", "failed"],
  ["funds-detected", "expire", "expired"],
  ["funds-detected", "review", "in-review"],
  ["funds-received", "settle", "settling"],
  ["funds-received", "fail", "failed"],
  ["funds-received", "review", "in-review"],
  ["settling", "credit", "settled"],
  ["settling", "back-off", "funds-received"],
  ["settling", "fail", "failed"],
  ["settling", "review", "in-review"],
  ["settled", "reverse", "reversed"],
  ["in-review", "accept", "funds-received"],
  ["in-review", "return", "returned"],
  ["in-review", "extend", "awaiting-funds"],
  ["expired", "reopen", "funds-received"],
  ["expired", "review", "in-review"],
  ["failed", "reopen", "funds-received"],
  ["failed", "detect", "funds-detected"],
  ["failed", "review", "in-review"],
  ["cancelled", "review", "in-review"],
  ["reversed", "detect", "funds-detected"],
  ["reversed", "fail", "failed"],
];

describe("a clearing", () => {
  it.each(legal)("%s, %s: %s", (from, trigger, to) => {
    expect(advance(from, trigger)).toBe(to);
  });

  it("refuses every other step", () => {
    const known = new Set(legal.map(([from, trigger]) => `${from} ${trigger}`));
    const others = clearingStates.flatMap((from) =>
      clearingTriggers.flatMap((trigger) =>
        known.has(`${from} ${trigger}`) ? [] : [[from, trigger] as const],
      ),
    );
    expect(others).toHaveLength(clearingStates.length * clearingTriggers.length - legal.length);
    for (const [from, trigger] of others)
      expect(() => advance(from, trigger)).toThrow(`a clearing that is ${from} cannot ${trigger}`);
  });

  it("reaches every state from the first one", () => {
    const reached = new Set<ClearingState>(["created"]);
    for (let size = 0; size !== reached.size; ) {
      size = reached.size;
      for (const from of [...reached])
        for (const to of Object.values(clearingTransitions[from])) if (to) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...clearingStates].sort());
  });

  it("can be paid or decided upon as long as its money may still come", () => {
    const ends = clearingStates.filter((state) => Object.keys(clearingTransitions[state]).length === 0);
    expect(ends).toEqual(["returned"]);
  });
});

const intentSteps: readonly (readonly [IntentStatus, IntentTrigger, IntentStatus])[] = [
  ["created", "confirm", "clearing"],
  ["created", "expire", "expired"],
  ["created", "cancel", "cancelled"],
  ["clearing", "settle", "completed"],
  ["clearing", "fail", "failed"],
  ["clearing", "expire", "expired"],
  ["clearing", "cancel", "cancelled"],
  ["completed", "reverse", "failed"],
  ["failed", "reopen", "clearing"],
  ["failed", "detect", "clearing"],
  ["failed", "review", "clearing"],
  ["expired", "reopen", "clearing"],
  ["expired", "review", "clearing"],
  ["cancelled", "review", "clearing"],
];

describe("an intent", () => {
  it.each(intentSteps)("%s, %s: %s", (from, trigger, to) => {
    expect(advanceIntent(from, trigger)).toBe(to);
  });

  it("refuses every other step", () => {
    const known = new Set(intentSteps.map(([from, trigger]) => `${from} ${trigger}`));
    let refused = 0;
    for (const from of intentStatuses)
      for (const trigger of intentTriggers) {
        if (known.has(`${from} ${trigger}`)) continue;
        expect(() => advanceIntent(from, trigger)).toThrow(`an intent that is ${from} cannot ${trigger}`);
        refused += 1;
      }
    expect(refused).toBe(intentStatuses.length * intentTriggers.length - intentSteps.length);
  });

  it("follows its clearing through every step that the clearing may take", () => {
    for (const [from, trigger] of legal) {
      const to = advance(from, trigger);
      expect([from, trigger, follow(statusOf[from], to)]).toEqual([from, trigger, statusOf[to]]);
    }
    expect(follow("created", "created")).toBe("clearing");
  });

  it.each([
    ["completed", "awaiting-funds"],
    ["cancelled", "settled"],
    ["completed", "expired"],
  ] as const)("that is %s does not follow to %s", (status, state) => {
    expect(() => follow(status, state)).toThrow(`an intent that is ${status} cannot become`);
  });
});

describe("what the world is told", () => {
  it("has the names of the catalogue, one step after the other", () => {
    const told = new Set(Object.values(factsOfTrigger).flat());
    expect([...told].sort()).toEqual([
      "payment.cancelled",
      "payment.clearing",
      "payment.completed",
      "payment.expired",
      "payment.failed",
      "payment.funds_detected",
      "payment.funds_received",
      "payment.reopened",
      "payment.returned",
      "payment.reversed",
      "payment.review_required",
    ]);
    expect(depositStatuses).toHaveLength(8);
  });
});

describe("docs/reference/payment-states.md", () => {
  it("is what `npm run reference` makes of the tables", async () => {
    const page = new URL("../../../docs/reference/payment-states.md", import.meta.url);
    expect(await readFile(page, "utf8")).toBe(stateReference());
  });
});
