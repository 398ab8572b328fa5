import type { SQL } from "drizzle-orm";

/** The same condition, its values written into the statement: for what is the same in every run, as a state is. An index
 *  of some rows serves only a statement that says by itself that it asks for those: a parameter could be anything, and
 *  the plan that is kept for all of them then reads through the whole table. */
export function fixed(condition: SQL): SQL {
  return condition.inlineParams();
}
