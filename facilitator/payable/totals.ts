import type { Clock } from "#kernel/clock";

/** Below this a total is counted each time. */
const LARGE = 5_000;
const KEPT_MS = 10_000;
const MOST = 200;

/** How many matches there are; large totals are remembered for a moment, because to count them takes longer than to
 *  find the page. A reader may keep the page itself for longer. */
export type Totals = (filter: string, count: () => Promise<number>) => Promise<number>;

export const countEachTime: Totals = (_, count) => count();

export function totalsMemory(clock: Pick<Clock, "monotonicMs">): Totals {
  const known = new Map<string, { readonly total: number; readonly untilMs: number }>();
  return async (filter, count) => {
    const seen = known.get(filter);
    if (seen && seen.untilMs > clock.monotonicMs()) return seen.total;
    const total = await count();
    known.delete(filter);
    if (known.size >= MOST) known.clear();
    if (total >= LARGE) known.set(filter, { total, untilMs: clock.monotonicMs() + KEPT_MS });
    return total;
  };
}
