import { describe, expect, it } from "vitest";
import { nextLook } from "../../../api/clearing/schedule.ts";

type Scheduling = Parameters<typeof nextLook>[0];

const now = new Date("2026-08-11T09:30:00.000Z");
const inMs = (ms: number) => new Date(now.getTime() + ms);
const depth = { x402: 1, standard: 12, high: 90 };

const deposit = (given: object) =>
  ({
    isCanonical: true,
    row: {
      ...{ id: "dep_1", chain: "base", confirmations: 12, isBooked: true, isFinal: true },
      ...{ toClearing: 10n, toOverpayment: 0n, toUnmatched: 0n, isMatched: false },
      firstSeenAt: inMs(-60_000),
      ...given,
    },
  }) as unknown as Scheduling["seen"][number];
const returned = (state: string) =>
  ({ state, depositId: "dep_1" }) as unknown as Scheduling["returns"][number];
const look = (given: Partial<Scheduling>) =>
  nextLook({
    clearing: { state: "returned", isFinal: false, reviewRequired: false, updatedAt: inMs(-60_000) } as never,
    ...{ seen: [], returns: [], windowAt: null, isMidway: false, now },
    factsOf: () => ({ blockTimeSeconds: 2, depth }),
    ...given,
  });

describe("a clearing", () => {
  it("is looked at again at once where a step is left, and never where nothing is waited for", () => {
    expect(look({ isMidway: true })).toEqual(now);
    expect(look({})).toBeNull();
    expect(look({ windowAt: inMs(-1) })).toBeNull();
  });

  it("waits for confirmations, for half a block less than is missing", () => {
    expect(look({ seen: [deposit({ confirmations: 10, isBooked: false, isFinal: false })] })).toEqual(
      inMs(3_000),
    );
    const gone = { ...deposit({ isBooked: false, isFinal: false }), isCanonical: false };
    expect(look({ seen: [gone] })).toBeNull();
  });

  it("waits for finality while money is to go back, more and more seldom", () => {
    const seen = [deposit({ isFinal: false })];
    expect(look({ seen, returns: [returned("decided")] })).toEqual(inMs(20_000));
    expect(look({ seen, returns: [returned("sending")] })).toBeNull();
  });

  it("waits for finality while more lies here than was due: it may go back by itself then", () => {
    const given = { toOverpayment: 1n, isFinal: false };
    expect(look({ seen: [deposit(given)] })).toEqual(inMs(20_000));
    expect(look({ seen: [deposit({ ...given, isFinal: true })] })).toBeNull();
    expect(look({ seen: [deposit({ ...given, toOverpayment: 0n })] })).toBeNull();
  });

  it("waits for finality while its merchant has to decide: only what is final can be accepted", () => {
    const clearing = { state: "in-review", isFinal: false, reviewRequired: true, updatedAt: inMs(-60_000) };
    expect(look({ clearing: clearing as never, seen: [deposit({ isFinal: false })] })).toEqual(inMs(20_000));
    expect(look({ clearing: clearing as never, seen: [deposit({})] })).toBeNull();
  });

  it("comes back to a return that was not handed on though its money is final: no fact tells that it can leave", () => {
    const seen = [deposit({})];
    expect(look({ seen, returns: [returned("failed"), returned("decided")] })).toEqual(inMs(60_000));
    for (const state of ["sending", "sent", "failed"])
      expect(look({ seen, returns: [returned(state)] })).toBeNull();
  });
});
