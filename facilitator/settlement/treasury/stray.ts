import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { fixed } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { claim } from "../claim/tables.ts";
import { chainTransfer } from "../observer/tables.ts";

/** True of a transfer out of the treasury that nothing of ours explains: no claim that has not ended has its
 *  authorization. */
export function isStray({ chainId, treasury }: Pick<ChainRow, "chainId" | "treasury">): SQL | undefined {
  return and(
    eq(chainTransfer.chainId, chainId),
    fixed(eq(chainTransfer.canonical, true)),
    isNull(chainTransfer.claimedKind),
    eq(chainTransfer.sender, treasury),
    sql`NOT EXISTS (SELECT FROM ${claim} WHERE ${claim.claimKey} = ${chainTransfer.authorizationKey}
      AND ${claim.state} NOT IN ('expired', 'cancelled'))`,
  );
}
