import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { isGone } from "#store";
import type { Engine } from "./engine.ts";

/** Whether a lease may be taken by another process than its holder, by the database's clock. It lapses; and where processes
 *  show that they live, one of a holder that is gone need not be waited for. This is no more than haste: who acts under a
 *  lease is told by its fence that it was taken. */
export function isOver({ presence }: Engine, holder: SQLWrapper, until: SQLWrapper): SQL {
  const isLapsed = sql`coalesce(${until} < now(), true)`;
  return presence ? sql`(${isLapsed} OR ${isGone(holder)})` : isLapsed;
}
