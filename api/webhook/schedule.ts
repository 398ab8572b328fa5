const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after each failed attempt the next one is made: ten attempts in about three days. Source: merchant-api.md
 *  §6.4. */
const PAUSES_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const JITTER = 0.2;
/** Longest pause before the second attempt, unless the endpoint asks for a longer one; later events of the same thing
 *  wait that out. */
export const QUICK_PAUSE_MS = 5 * SECOND * (1 + JITTER);
const LONGEST_WISH_MS = HOUR;

/** The pause after `tries` failed attempts, or null after the last one. An endpoint that said when to come back is not
 *  asked before, within an hour. `chance` is from 0 to 1. Pure. */
export function pauseAfter(
  tries: number,
  { chance, retryAfterMs }: { readonly chance: number; readonly retryAfterMs: number | null },
): number | null {
  const pause = PAUSES_MS[tries - 1];
  if (pause === undefined) return null;
  const wish = Math.min(retryAfterMs ?? 0, LONGEST_WISH_MS);
  return Math.max(Math.round(pause * (1 + chance * JITTER)), wish);
}

/** What `Retry-After` asks for: seconds, or a date by the machine's clock. Null for anything else. Pure. */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const at = / GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(at - now.getTime(), 0);
}

const DAY = 24 * HOUR;
const DISABLED_AFTER_MS = 5 * DAY;
const LEAST_FAILURES = 20;
/** Days without a success after which the merchant is told. */
const WARNED_DAYS = [3, 1] as const;

/** What follows from failures since the last success: nothing, a warning that was not given yet, or the end. Pure. */
export function verdictOn(
  { failingSince, failures, warnedDays }: Failing,
  now: Date,
): { readonly isOver: boolean; readonly warnDays: number | null } {
  const ms = now.getTime() - failingSince.getTime();
  if (ms >= DISABLED_AFTER_MS && failures >= LEAST_FAILURES) return { isOver: true, warnDays: null };
  const days = WARNED_DAYS.find((each) => ms >= each * DAY) ?? 0;
  return { isOver: false, warnDays: days > warnedDays ? days : null };
}

interface Failing {
  readonly failingSince: Date;
  readonly failures: number;
  readonly warnedDays: number;
}
