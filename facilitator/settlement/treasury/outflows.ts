/** What left the treasury and nothing of ours explains: an operator says whose money it was. Until then the books differ from
 *  the chain, and nothing of that token leaves. */
import { and, asc, eq } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { post, templates } from "#ledger";
import { isCheckViolation } from "#store";
import { assetOf } from "../coin.ts";
import { type Engine, namedChain } from "../engine.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { departedKeys } from "./outgoing.ts";
import { isStray } from "./stray.ts";
import { outflowBooking } from "./tables.ts";

/** One transfer out of a treasury. */
export interface OutflowRef {
  /** Slug. */
  readonly chain: string;
  readonly transaction: Hash;
  /** Index in its block. */
  readonly logIndex: number;
}

/** The same with what it moved. Amount in atomic units of the token. */
export interface StrayOutflow extends OutflowRef {
  readonly token: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  readonly at: Date;
}

/** Whose money it was, and why an operator says so. */
export interface OutflowWord {
  /** Of a merchant, who has that much less; ours where it is null. */
  readonly merchantId: string | null;
  readonly reason: string;
}

/** `not-stray`: there is no such transfer out, or it is explained. `not-final`: its block may still leave the chain.
 *  `token-not-listed`: its money has no name in the books. `too-little`: the merchant does not have that much, or is none. */
export type OutflowProblem = "not-stray" | "not-final" | "token-not-listed" | "too-little";

/** The oldest first. An order that waits here and has left already, before the books were put back to an earlier time, is none:
 *  it is signed anew, and followed. */
export async function strayOutflows({ loopDb, chains }: Engine): Promise<readonly StrayOutflow[]> {
  const found: StrayOutflow[] = [];
  for (const open of chains.values()) {
    const rows = await loopDb.pool
      .select()
      .from(chainTransfer)
      .where(isStray(open.chain.row))
      .orderBy(asc(chainTransfer.blockNumber), asc(chainTransfer.logIndex));
    const own = await departedKeys(loopDb.pool, open.chain.row);
    const stray = rows.filter(({ authorizationKey: key }) => key === null || !own.has(key));
    for (const { txHash: transaction, blockTime: at, logIndex, token, amount, recipient } of stray)
      found.push({ chain: open.chain.row.slug, transaction, logIndex, token, amount, recipient, at });
  }
  return found;
}

/** Books a transfer that left: the books follow the chain. Null when it is booked. */
export async function bookOutflow(
  engine: Engine,
  { chain, transaction, logIndex }: OutflowRef,
  word: OutflowWord,
): Promise<OutflowProblem | null> {
  const open = namedChain(engine.chains, chain);
  if (!open) return "not-stray";
  const { row } = open.chain;
  const isIt = and(eq(chainTransfer.txHash, transaction), eq(chainTransfer.logIndex, logIndex));
  try {
    return await engine.loopDb.tx(async (tx) => {
      // First, as whoever turns to another branch does, who would else wait for us while we wait for him.
      const [at] = await tx.select().from(observer).where(eq(observer.chainId, row.chainId)).for("share");
      const [log] = await tx
        .select()
        .from(chainTransfer)
        .where(and(isStray(open.chain.row), isIt))
        .for("update");
      const own = await departedKeys(tx, row);
      if (!log || (log.authorizationKey && own.has(log.authorizationKey))) return "not-stray";
      if (!at || log.blockNumber > at.finalizedNumber) return "not-final";
      if (!row.tokens.some(({ contract }) => contract === log.token)) return "token-not-listed";
      const { blockHash, blockNumber, amount } = log;
      await tx
        .update(chainTransfer)
        .set({ claimedKind: "booked" })
        .where(and(isStray(open.chain.row), isIt));
      await tx.insert(outflowBooking).values({ chainId: row.chainId, blockHash, logIndex, ...word });
      const asset = assetOf(row, log.token);
      const { merchantId } = word;
      await post(tx, [
        templates.outflowBooked({ chain, ...log, asset, merchantId, amount, blockNumber, blockHash }),
      ]);
      engine.log.warn({ chain, transaction, logIndex, ...word }, "an operator has booked what had left");
      return null;
    });
  } catch (error) {
    if (isCheckViolation(error, "ledger_balance_bounded")) return "too-little";
    throw error;
  }
}
