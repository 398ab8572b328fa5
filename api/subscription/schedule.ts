/** When the cycles of a subscription begin. Pure, in UTC, always reckoned from the anchor and never from the cycle
 *  before, so that nothing drifts. Source: merchant-api.md §8. */
export const intervals = ["day", "week", "month", "year"] as const;
export type Interval = (typeof intervals)[number];

export interface Schedule {
  readonly anchorAt: Date;
  readonly interval: Interval;
  readonly intervalCount: number;
}

const DAY_MS = 86_400_000;
const lengths = { day: DAY_MS, week: 7 * DAY_MS } as const;
const months = { month: 1, year: 12 } as const;

/** The instant at which cycle `n` begins: the anchor itself for 0. */
export function cycleAt({ anchorAt, interval, intervalCount }: Schedule, n: number): Date {
  const steps = n * intervalCount;
  if (interval === "day" || interval === "week")
    return new Date(anchorAt.getTime() + steps * lengths[interval]);
  return addMonths(anchorAt, steps * months[interval]);
}

/** The same day and time so many months on; the last day of a month that has not that day. */
function addMonths(from: Date, count: number): Date {
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + count];
  // Day 0 is the last of the month before.
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDay = from.getTime() - Date.UTC(year, from.getUTCMonth(), from.getUTCDate());
  return new Date(Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + timeOfDay);
}

/** The first cycle that begins after `instant`. */
export function firstAfter(schedule: Schedule, instant: Date): number {
  const { anchorAt, interval, intervalCount } = schedule;
  if (instant < anchorAt) return 0;
  let n = Math.max(0, Math.floor(stepsBetween(anchorAt, instant, interval) / intervalCount) - 1);
  while (cycleAt(schedule, n) <= instant) n += 1;
  return n;
}

/** Whole steps from one instant to the other, or one more. */
function stepsBetween(from: Date, to: Date, interval: Interval): number {
  if (interval === "day" || interval === "week")
    return Math.floor((to.getTime() - from.getTime()) / lengths[interval]);
  const apart = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  return Math.floor(apart / months[interval]);
}

/** How many cycles from `next` on have begun by `now`. */
export function countDue(schedule: Schedule, next: number, now: Date): number {
  return Math.max(0, firstAfter(schedule, now) - next);
}
