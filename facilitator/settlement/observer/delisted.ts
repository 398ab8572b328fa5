import { type SQL, sql } from "drizzle-orm";
import { toBytesArray } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { claim } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import { chainTransfer } from "./tables.ts";

/** Whether a row's token is one that its chain lists. What was recorded in a token that left the configuration has no
 *  name in the books: it is left alone, in sight, until the token is listed again. */
export function isListed(row: ChainRow, token: typeof claim.token | typeof chainTransfer.token): SQL {
  return sql`${token} = ANY(${toBytesArray(row.tokens.map(({ contract }) => contract))})`;
}

/** Says what is left alone on a chain: open claims, and transfers that nobody has booked. */
export async function tellDelisted({ loopDb, log }: Engine, row: ChainRow): Promise<void> {
  const { rows } = await loopDb.pool.execute<{ claims: string; transfers: string }>(sql`SELECT
    (SELECT count(*) FROM ${claim} WHERE ${claim.chainId} = ${row.chainId} AND NOT ${isListed(row, claim.token)}
      AND ${claim.state} IN ('claimed','submitting','failed-watch','review')) AS claims,
    (SELECT count(*) FROM ${chainTransfer} WHERE ${chainTransfer.chainId} = ${row.chainId} AND ${chainTransfer.canonical}
      AND ${chainTransfer.claimedKind} IS NULL AND NOT ${isListed(row, chainTransfer.token)}) AS transfers`);
  const [claims, transfers] = [Number(rows[0]?.claims ?? 0), Number(rows[0]?.transfers ?? 0)];
  if (claims + transfers > 0)
    log.error(
      { chain: row.slug, claims, transfers },
      "money in tokens that are no longer listed waits: list them again to have it booked",
    );
}
