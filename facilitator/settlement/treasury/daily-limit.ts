import { and, eq, isNull, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import type { Executor, Tx } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { claim } from "../claim/tables.ts";
import { assetOf } from "../coin.ts";
import { isApproved } from "./approval.ts";
import { outgoing } from "./tables.ts";

/** What may still leave the treasury of a token: the operator's limit, less what was signed in 24 hours and did not end
 *  unsent; null where there is no limit. Source: security.md §2. */
export async function leftToday(
  db: Executor,
  { chainId, dailyLimits }: ChainRow,
  token: Address,
): Promise<bigint | null> {
  const limit = dailyLimits.get(token);
  if (limit === undefined) return null;
  const [signed] = await db
    .select({ amount: sql<string>`coalesce(sum(${outgoing.amount}), 0)` })
    .from(outgoing)
    .innerJoin(claim, eq(claim.claimKey, outgoing.claimKey))
    .where(
      and(
        eq(outgoing.chainId, chainId),
        eq(outgoing.token, token),
        sql`${outgoing.signedAt} > now() - interval '24 hours'`,
        sql`${claim.state} NOT IN ('expired','cancelled')`,
      ),
    );
  return limit - BigInt(signed?.amount ?? 0);
}

/** One process after the other signs where there is a limit, or two would each see room for the same money. */
export async function takeTurns(tx: Tx, { chainId, dailyLimits }: ChainRow): Promise<void> {
  if (dailyLimits.size === 0) return;
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`outgoing ${chainId}`}, 0))`);
}

/** The assets of which something waits to leave that the limit has no room for now. */
export async function limitedAssets(db: Executor, row: ChainRow): Promise<readonly string[]> {
  const found: string[] = [];
  for (const token of row.dailyLimits.keys()) {
    const left = await leftToday(db, row, token);
    const [waits] = await db
      .select({ id: outgoing.id })
      .from(outgoing)
      .where(
        and(
          eq(outgoing.chainId, row.chainId),
          eq(outgoing.token, token),
          isNull(outgoing.claimKey),
          isNull(outgoing.cancelledAt),
          isApproved,
          sql`${outgoing.amount} > ${(left ?? 0n).toString()}::numeric`,
        ),
      )
      .limit(1);
    if (waits) found.push(assetOf(row, token));
  }
  return found;
}
