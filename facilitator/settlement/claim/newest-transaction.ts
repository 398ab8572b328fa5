import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { type Executor, toBytesArray } from "#store";
import { attempt } from "../lane/tables.ts";
import type { Claim } from "./claim.ts";
import { claim } from "./tables.ts";

type Sent = Pick<Claim, "claimKey" | "includedTx">;

/** The hash of a claim's newest signed transaction, known before it was ever sent; `""` while nothing is signed. One
 *  indexed read for many callers. */
export function transactionReader(db: Executor): (sent: Sent) => Promise<string> {
  const read = coalesce({ maxInFlight: 2, maxItems: 250 }, (keys: readonly Hash[]) =>
    newestTransactions(db, keys),
  );
  return async ({ claimKey, includedTx }) => includedTx ?? read(claimKey);
}

export async function newestTransaction(db: Executor, { claimKey, includedTx }: Sent): Promise<string> {
  if (includedTx) return includedTx;
  const [transaction = ""] = await newestTransactions(db, [claimKey]);
  return transaction;
}

/** In the order of the keys. */
async function newestTransactions(db: Executor, keys: readonly Hash[]): Promise<readonly string[]> {
  const newest = sql<Hash | null>`(
    SELECT tx_hash FROM attempt WHERE attempt.slot_id = claim.slot_id ORDER BY seq DESC LIMIT 1)`;
  const rows = await db
    .select({ claimKey: claim.claimKey, transaction: newest.mapWith(attempt.txHash) })
    .from(claim)
    .where(sql`${claim.claimKey} = ANY(${toBytesArray(keys)})`);
  const byKey = new Map(rows.map(({ claimKey, transaction }) => [claimKey, transaction]));
  return keys.map((key) => byKey.get(key) ?? "");
}
