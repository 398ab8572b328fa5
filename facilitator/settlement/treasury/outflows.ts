/** What left the treasury, or an order's own address, and nothing of ours explains: an operator says whose money it was. Until
 *  then the books differ from the chain, and nothing of that token leaves. */
import { and, asc, eq } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { type Entry, post, templates } from "#ledger";
import { type Executor, isCheckViolation } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { assetOf } from "../coin.ts";
import { expectedOn } from "../deposit/books.ts";
import { isUpcomingSweep } from "../deposit/sweep.ts";
import { type Engine, namedChain } from "../engine.ts";
import { least } from "../lane/gas.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { departedKeys } from "./outgoing.ts";
import { isStrayAnywhere } from "./stray.ts";
import { outflowBooking } from "./tables.ts";

/** One transfer out of a treasury or an order's own address. */
export interface OutflowRef {
  /** Slug. */
  readonly chain: string;
  readonly transaction: Hash;
  /** Index in its block. */
  readonly logIndex: number;
}

/** The same with what is to be booked of it. Amount in atomic units of the token. */
export interface StrayOutflow extends OutflowRef {
  readonly token: Address;
  readonly amount: bigint;
  readonly sender: Address;
  readonly recipient: Address;
  readonly at: Date;
}

/** Whose money it was, and why an operator says so. */
export interface OutflowWord {
  /** Of a merchant, who has that much less; ours where it is null. Null, too, of what went into the treasury. */
  readonly merchantId: string | null;
  readonly reason: string;
}

/** `not-stray`: there is no such transfer out, or it is explained. `not-final`: its block may still leave the chain.
 *  `token-not-listed`: its money has no name in the books. `too-little`: the merchant does not have that much, or is none.
 *  `nobodys-loss`: it went into the treasury, and a merchant was named. */
export type OutflowProblem = "not-stray" | "not-final" | "token-not-listed" | "too-little" | "nobodys-loss";

type Log = typeof chainTransfer.$inferSelect;

/** The oldest first. */
export async function strayOutflows({ loopDb, chains }: Engine): Promise<readonly StrayOutflow[]> {
  const found: StrayOutflow[] = [];
  for (const { chain } of chains.values()) {
    const { row } = chain;
    const own = await departedKeys(loopDb.pool, row);
    const logs = await loopDb.pool
      .select()
      .from(chainTransfer)
      .where(isStrayAnywhere(row))
      .orderBy(asc(chainTransfer.blockNumber), asc(chainTransfer.logIndex));
    for (const log of logs) {
      const amount = await unexplainedOf(loopDb.pool, row, log, own);
      const { txHash: transaction, blockTime: at, logIndex, token, sender, recipient } = log;
      if (amount > 0n)
        found.push({ chain: row.slug, transaction, logIndex, token, amount, sender, recipient, at });
    }
  }
  return found;
}

/** What of a stray transfer is to be booked. Nothing of an order or sweep that waits here and has left already, before the books
 *  were put back to an earlier time: it is signed anew, and followed. `departed` is read before the transfer is: an order
 *  that is signed between the two is in the first, and explains the second. Of what went from an order's address into the treasury,
 *  what was known to lie there: the rest came when nobody watched any more, and is unmatched as it should be. */
async function unexplainedOf(
  db: Executor,
  row: ChainRow,
  log: Log,
  departed: ReadonlySet<Hash>,
): Promise<bigint> {
  const { authorizationKey: key, claimedKind, sender: address, token, amount, blockNumber } = log;
  if (key && departed.has(key)) return 0n;
  if (claimedKind !== "unmatched") return amount;
  if (key && (await isUpcomingSweep(db, { chainId: row.chainId, token, address }, key))) return 0n;
  return least(amount, await expectedOn(db, { row, token, blockNumber }, address));
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
      const own = await departedKeys(tx, row);
      const [log] = await tx
        .select()
        .from(chainTransfer)
        .where(and(isStrayAnywhere(row), isIt))
        .for("update");
      const amount = log && (await unexplainedOf(tx, row, log, own));
      if (!log || !amount || amount < 0n) return "not-stray";
      if (!at || log.blockNumber > at.finalizedNumber) return "not-final";
      if (!row.tokens.some(({ contract }) => contract === log.token)) return "token-not-listed";
      if (isKept(row, log) && !log.bookedFinal) return "not-final";
      if (isKept(row, log) && word.merchantId !== null) return "nobodys-loss";
      const booking = { chainId: row.chainId, blockHash: log.blockHash, logIndex, ...word };
      const booked = await tx.insert(outflowBooking).values(booking).onConflictDoNothing().returning();
      if (booked.length === 0) return "not-stray"; // by somebody else in the same moment
      // What reached an order is its to take.
      if (log.orderId === null)
        await tx
          .update(chainTransfer)
          .set({ claimedKind: "booked" })
          .where(and(isStrayAnywhere(row), isIt));
      await post(tx, [bookingOf(row, { ...log, amount }, word)]);
      engine.log.warn({ chain, transaction, logIndex, ...word }, "an operator has booked what had left");
      return null;
    });
  } catch (error) {
    if (isCheckViolation(error, "ledger_balance_bounded")) return "too-little";
    throw error;
  }
}

/** Out of an order's address into the treasury, for no order: it is in the books as unmatched, or about to be. */
const isKept = ({ treasury }: ChainRow, { recipient, orderId }: Log) =>
  recipient === treasury && orderId === null;

function bookingOf(row: ChainRow, log: Log, { merchantId }: OutflowWord): Entry {
  const of = { ...log, chain: row.slug, asset: assetOf(row, log.token) };
  if (isKept(row, log)) return templates.outflowKept(of);
  return templates.outflowBooked({
    ...of,
    merchantId,
    place: log.sender === row.treasury ? "treasury" : "deposit",
  });
}
