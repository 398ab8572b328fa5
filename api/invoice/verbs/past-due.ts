import { and, gt, lt, or, type SQL } from "drizzle-orm";
import { DAY_MS } from "../state.ts";
import { invoice } from "../tables.ts";

/** The rule of `isPastDue`, as SQL. */
export function pastDue(now: Date): SQL | undefined {
  const { issuedAt, dueAt } = invoice;
  return and(lt(dueAt, now), or(gt(dueAt, issuedAt), lt(dueAt, new Date(now.getTime() - DAY_MS))));
}
