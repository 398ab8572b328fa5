import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { chainBlock } from "./tables.ts";

/** Whether a block belongs to the chain as we have followed it. In a new database a join is planned for the few blocks that
 *  there are, and compares each row with each of them for as long as the plan is kept; `OFFSET 0` keeps it a look-up. */
export const isCanonical = (chainId: SQLWrapper, hash: SQLWrapper): SQL =>
  sql`EXISTS (SELECT 1 FROM ${chainBlock} WHERE ${chainBlock.chainId} = ${chainId} AND ${chainBlock.hash} = ${hash} AND ${chainBlock.canonical} OFFSET 0)`;
