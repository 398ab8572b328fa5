import { describe, expect, it } from "vitest";
import { advance, clearingStates } from "../../../api/clearing/state.ts";
import { providerStates } from "../../../api/provider/port.ts";
import { courseOf } from "../../../api/provider/state.ts";

const open = { isOver: false };
const course = (...of: Parameters<typeof courseOf>) => courseOf(...of);

describe("the course of a provider's payment", () => {
  it("never asks for a step that the clearing's table does not have", () => {
    for (const from of clearingStates)
      for (const state of providerStates)
        for (const isOver of [false, true])
          expect(() => course(from, state, { isOver }).triggers.reduce(advance, from)).not.toThrow();
  });

  it("asked again after its own steps leads nowhere: a status that is told twice, or late, changes nothing", () => {
    for (const from of clearingStates)
      for (const state of providerStates) {
        const { triggers } = course(from, state, open);
        const to = triggers.reduce(advance, from);
        // what has failed and whose money is there may be opened again by a later look; nothing else moves twice
        if (to !== "failed")
          expect([from, state, course(to, state, open).triggers]).toEqual([from, state, []]);
      }
  });

  it.each([
    ["awaiting-funds", "funds-detected", ["detect"], false, null],
    ["awaiting-funds", "funds-received", ["detect", "receive", "settle"], true, "settle"],
    ["funds-detected", "funds-received", ["receive", "settle"], true, "settle"],
    ["funds-received", "funds-received", ["settle"], true, "settle"],
    ["settling", "funds-received", [], true, "settle"],
    ["settling", "settling", [], true, null],
    ["settling", "settled", ["credit"], true, null],
    ["awaiting-funds", "settled", ["detect", "receive", "settle", "credit"], true, null],
    ["awaiting-funds", "failed", ["fail"], false, null],
    ["settling", "failed", ["fail"], false, null],
    ["settled", "settled", [], true, null],
    ["awaiting-funds", "closed", ["expire"], false, null],
    ["expired", "funds-received", ["reopen", "settle"], true, "settle"],
    ["failed", "settled", ["reopen", "settle", "credit"], true, null],
    ["failed", "failed", [], false, null],
    ["cancelled", "awaiting-funds", [], false, "close"],
    ["cancelled", "funds-received", ["review"], true, null],
    ["in-review", "funds-received", [], true, null],
  ] as const)("from %s, told %s: %j", (from, state, triggers, isReceived, instruct) => {
    expect(course(from, state, open)).toEqual({ triggers, isReceived, instruct });
  });

  it("ends with the payer's time, and closes at the provider, unless money has shown up", () => {
    const over = { isOver: true };
    expect(course("awaiting-funds", "awaiting-funds", over)).toEqual({
      triggers: ["expire"],
      isReceived: false,
      instruct: "close",
    });
    expect(course("awaiting-funds", "funds-detected", over).triggers).toEqual(["detect"]);
    expect(course("funds-detected", "funds-detected", over).triggers).toEqual([]);
    expect(course("awaiting-funds", "settling", over).triggers).toEqual(["detect", "receive", "settle"]);
  });
});
