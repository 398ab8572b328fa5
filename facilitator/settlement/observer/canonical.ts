import { and, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { fixed } from "#store";
import type { Chain } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";
import { chainBlock } from "./tables.ts";

/** Whether a block belongs to the chain as we have followed it. In a new database a join is planned for the few blocks that
 *  there are, and compares each row with each of them for as long as the plan is kept; `OFFSET 0` keeps it a look-up. */
export const isCanonical = (chainId: SQLWrapper, hash: SQLWrapper): SQL =>
  sql`EXISTS (SELECT 1 FROM ${chainBlock} WHERE ${chainBlock.chainId} = ${chainId} AND ${chainBlock.hash} = ${hash} AND ${chainBlock.canonical} OFFSET 0)`;

/** The same of one block, asked now. A block of another branch may never become final; if it does, the observer meets it. */
export async function isFollowed(engine: Engine, { row }: Chain, hash: Hash): Promise<boolean> {
  const found = await engine.loopDb.pool
    .select({ hash: chainBlock.hash })
    .from(chainBlock)
    .where(
      and(
        eq(chainBlock.chainId, row.chainId),
        eq(chainBlock.hash, hash),
        fixed(eq(chainBlock.canonical, true)),
      ),
    );
  return found.length > 0;
}
