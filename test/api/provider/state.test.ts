import { describe, expect, it } from "vitest";
import { advance, clearingStates } from "../../../api/clearing/state.ts";
import { providerStates } from "../../../api/provider/port.ts";
import { courseOf } from "../../../api/provider/state.ts";

const pairs = clearingStates.flatMap((from) =>
  providerStates.flatMap((state) => [0n, 5n].map((received) => ({ from, status: { state, received } }))),
);

const untried = { failedSteps: 0 };

describe("the course of a provider's payment", () => {
  it("never asks for a step that the clearing's table does not have", () => {
    for (const { from, status } of pairs)
      expect(() => courseOf(from, status, untried).triggers.reduce(advance, from)).not.toThrow();
  });

  it("asked again after its own steps leads nowhere: a status that is told twice, or late, changes nothing", () => {
    for (const { from, status } of pairs) {
      // a settlement that failed is tried once more when somebody asks for it: the next status tells how that went
      if (from === "funds-received" && status.state === "failed") continue;
      const to = courseOf(from, status, untried).triggers.reduce(advance, from);
      expect([from, status, courseOf(to, status, untried).triggers]).toEqual([from, status, []]);
    }
  });

  it.each([
    ["awaiting-funds", "awaiting-funds", 0n, [], false, null],
    ["awaiting-funds", "funds-detected", 5n, ["detect"], false, null],
    ["awaiting-funds", "funds-received", 5n, ["detect", "receive", "settle"], true, "settle"],
    ["funds-detected", "funds-received", 5n, ["receive", "settle"], true, "settle"],
    ["funds-received", "funds-received", 5n, ["settle"], true, "settle"],
    ["settling", "funds-received", 5n, [], true, "settle"],
    ["settling", "settling", 5n, [], true, null],
    ["settling", "settled", 5n, ["credit"], true, null],
    ["awaiting-funds", "settled", 5n, ["detect", "receive", "settle", "credit"], true, null],
    ["awaiting-funds", "failed", 0n, ["fail"], false, null],
    ["settling", "failed", 5n, ["fail"], true, null],
    ["funds-received", "failed", 5n, ["settle"], true, "settle"],
    ["funds-received", "failed", 0n, ["fail"], false, null],
    ["settled", "settled", 5n, [], true, null],
    ["awaiting-funds", "closed", 0n, ["expire"], false, null],
    ["expired", "awaiting-funds", 0n, [], false, "close"],
    ["expired", "funds-received", 5n, ["reopen", "settle"], true, "settle"],
    ["failed", "settled", 5n, ["reopen", "settle", "credit"], true, null],
    ["failed", "failed", 5n, [], true, null],
    ["cancelled", "awaiting-funds", 0n, [], false, "close"],
    ["cancelled", "funds-received", 5n, [], true, "give-back"],
    ["in-review", "funds-received", 5n, [], true, null],
  ] as const)(
    "from %s, told %s with %d received: %j",
    (from, state, received, triggers, isReceived, instruct) => {
      expect(courseOf(from, { state, received }, untried)).toEqual({ triggers, isReceived, instruct });
    },
  );
});
