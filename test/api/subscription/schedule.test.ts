/** When cycles begin: month ends, leap days, years; and properties that hold for any anchor. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  countDue,
  cycleAt,
  firstAfter,
  intervals,
  type Schedule,
} from "../../../api/subscription/schedule.ts";

const of = (anchor: string, interval: Schedule["interval"], intervalCount = 1): Schedule => ({
  anchorAt: new Date(anchor),
  interval,
  intervalCount,
});
const first = (schedule: Schedule, count: number) =>
  Array.from({ length: count }, (_, n) => cycleAt(schedule, n).toISOString().slice(0, 16));

describe("the specified dates", () => {
  it.each([
    [
      "31st, common year",
      of("2026-01-31T09:30:00Z", "month"),
      ["2026-01-31T09:30", "2026-02-28T09:30", "2026-03-31T09:30", "2026-04-30T09:30", "2026-05-31T09:30"],
    ],
    [
      "31st, leap year",
      of("2028-01-31T00:00:00Z", "month"),
      ["2028-01-31T00:00", "2028-02-29T00:00", "2028-03-31T00:00"],
    ],
    [
      "30th",
      of("2027-12-30T23:59:00Z", "month"),
      ["2027-12-30T23:59", "2028-01-30T23:59", "2028-02-29T23:59", "2028-03-30T23:59"],
    ],
    [
      "every third month",
      of("2026-11-30T12:00:00Z", "month", 3),
      ["2026-11-30T12:00", "2027-02-28T12:00", "2027-05-30T12:00"],
    ],
    [
      "leap day, yearly",
      of("2024-02-29T06:00:00Z", "year"),
      ["2024-02-29T06:00", "2025-02-28T06:00", "2026-02-28T06:00", "2027-02-28T06:00", "2028-02-29T06:00"],
    ],
    [
      "a century without a leap day",
      of("2096-02-29T00:00:00Z", "year", 4),
      ["2096-02-29T00:00", "2100-02-28T00:00", "2104-02-29T00:00"],
    ],
    [
      "weeks over a change of clocks",
      of("2026-03-22T01:30:00Z", "week"),
      ["2026-03-22T01:30", "2026-03-29T01:30", "2026-04-05T01:30"],
    ],
    ["ten days", of("2026-12-25T00:00:00Z", "day", 10), ["2026-12-25T00:00", "2027-01-04T00:00"]],
    [
      "before 1970",
      of("1968-12-31T00:00:00Z", "month", 2),
      ["1968-12-31T00:00", "1969-02-28T00:00", "1969-04-30T00:00"],
    ],
  ])("%s", (_, schedule, dates) => {
    expect(first(schedule, dates.length)).toEqual(dates);
  });

  it("keeps the milliseconds of the anchor", () => {
    expect(cycleAt(of("2026-01-31T09:30:15.123Z", "month"), 1).toISOString()).toBe(
      "2026-02-28T09:30:15.123Z",
    );
  });
});

describe("the first cycle after an instant", () => {
  const monthly = of("2026-01-31T00:00:00Z", "month");
  it.each([
    ["before the anchor", "2026-01-30T00:00:00Z", 0],
    ["at the anchor", "2026-01-31T00:00:00Z", 1],
    ["just before a cycle", "2026-02-27T23:59:59.999Z", 1],
    ["at a cycle", "2026-02-28T00:00:00Z", 2],
    ["two years on", "2028-02-29T00:00:00Z", 26],
  ])("%s", (_, at, n) => {
    expect(firstAfter(monthly, new Date(at))).toBe(n);
  });

  it("counts what is due from a cycle on", () => {
    expect(countDue(monthly, 0, new Date("2026-03-30T00:00:00Z"))).toBe(2);
    expect(countDue(monthly, 2, new Date("2026-03-30T00:00:00Z"))).toBe(0);
    expect(countDue(monthly, 5, new Date("2026-03-30T00:00:00Z"))).toBe(0);
  });
});

describe("whatever the anchor", () => {
  const anchors = fc.date({ min: new Date("1990-01-01"), max: new Date("2099-12-31"), noInvalidDate: true });
  const schedules = fc.record({
    anchorAt: anchors,
    interval: fc.constantFrom(...intervals),
    intervalCount: fc.integer({ min: 1, max: 52 }),
  });
  const indices = fc.integer({ min: 0, max: 400 });

  it("cycles follow one another, and the first is the anchor", () => {
    fc.assert(
      fc.property(schedules, indices, (schedule, n) => {
        expect(cycleAt(schedule, 0)).toEqual(schedule.anchorAt);
        expect(cycleAt(schedule, n + 1).getTime()).toBeGreaterThan(cycleAt(schedule, n).getTime());
      }),
    );
  });

  it("the first cycle after an instant is the only one that has it between itself and the one before", () => {
    fc.assert(
      fc.property(schedules, indices, fc.integer({ min: 0, max: 86_400_000 }), (schedule, n, later) => {
        const instant = new Date(cycleAt(schedule, n).getTime() + later);
        const found = firstAfter(schedule, instant);
        expect(cycleAt(schedule, found) > instant).toBe(true);
        expect(found === 0 || cycleAt(schedule, found - 1) <= instant).toBe(true);
      }),
    );
  });

  it("months keep the time of day, and the day where the month has it", () => {
    fc.assert(
      fc.property(
        anchors,
        indices,
        fc.constantFrom("month" as const, "year" as const),
        (anchorAt, n, interval) => {
          const at = cycleAt({ anchorAt, interval, intervalCount: 1 }, n);
          expect(at.toISOString().slice(11)).toBe(anchorAt.toISOString().slice(11));
          const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
          expect(at.getUTCDate()).toBe(Math.min(anchorAt.getUTCDate(), lastDay));
        },
      ),
    );
  });
});
