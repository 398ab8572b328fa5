import { expect, it } from "vitest";
import { systemClock } from "#kernel/system";
import { allowance } from "../../../../facilitator/chain/evm/allowance.ts";

function started(perSecond: number | null) {
  let nowMs = 0;
  const calls = allowance({ ...systemClock, monotonicMs: () => nowMs }, perSecond);
  return {
    calls,
    spend(count: number) {
      for (let i = 0; i < count; i += 1) calls.spend();
    },
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it("has calls to spare until those are left that are kept, and has them again as time passes", () => {
  const { calls, spend, pass } = started(10);
  spend(6);
  expect(calls.hasSpare()).toBe(true);
  spend(1);
  expect(calls.hasSpare()).toBe(false);
  pass(99);
  expect(calls.hasSpare()).toBe(false);
  pass(2);
  expect(calls.hasSpare()).toBe(true);
});

it("holds a second's worth at most, however long nobody asked", () => {
  const { calls, spend, pass } = started(10);
  pass(3_600_000);
  spend(7);
  expect(calls.hasSpare()).toBe(false);
});

it("is a second's worth behind at most, whatever was paid meanwhile", () => {
  const { calls, spend, pass } = started(10);
  spend(1_000);
  pass(1_399);
  expect(calls.hasSpare()).toBe(false);
  pass(2);
  expect(calls.hasSpare()).toBe(true);
});

it("has the one call of a second to spare", () => {
  const { calls, spend } = started(1);
  expect(calls.hasSpare()).toBe(true);
  spend(1);
  expect(calls.hasSpare()).toBe(false);
});

it("counts nothing where there is no bound", () => {
  const { calls, spend } = started(null);
  spend(1_000);
  expect(calls.hasSpare()).toBe(true);
});
