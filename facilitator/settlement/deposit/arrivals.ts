import { asc, desc, eq, inArray, sql } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { type Executor, type Tx, toBytesArray } from "#store";
import { type Engine, servedChain } from "../engine.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { chainNamed } from "./order.ts";
import { depositOrder } from "./tables.ts";

/** A transfer that reached an order, as the canonical chain says now. */
export interface Arrival {
  readonly subject: string;
  readonly orderId: string;
  /** Slug. */
  readonly chain: string;
  /** Symbol of the token that came; perhaps not the one that was asked for. */
  readonly asset: string;
  readonly txHash: Hash;
  /** Index in the block, for showing: changes when the transaction is mined again. */
  readonly logIndex: number;
  /** Rank among the transfers of its transaction to this address: identity, with `txHash`. */
  readonly ordinal: number;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly blockTime: Date;
  readonly sender: Address;
  /** Atomic units. */
  readonly amount: bigint;
  /** False: its block left the chain and its transaction is not mined again. */
  readonly isCanonical: boolean;
  /** The inclusion block counts; 0 when not canonical. */
  readonly confirmations: number;
  readonly isFinal: boolean;
  /** `take` was called for this very log, in this block, since the block last joined the chain. */
  readonly isTaken: boolean;
  /** Which booking of this log it is or would be, from 1: a block may leave the chain and come back. Part of the books'
   *  key. */
  readonly booking: number;
}

/** What reached the orders of these subjects, oldest first. In a transaction it stays so until that ends: a
 *  reorganisation waits. */
export async function readArrivals(
  engine: Engine,
  db: Tx | Executor,
  subjects: readonly string[],
): Promise<readonly Arrival[]> {
  if (subjects.length === 0) return [];
  const ofSubjects = inArray(depositOrder.subject, [...subjects]);
  if ("$inTransaction" in db) await holdViews(db, ofSubjects);
  const { orderId, txHash, ordinal, canonical, blockNumber, blockHash } = chainTransfer;
  const rows = await db
    .selectDistinctOn([orderId, txHash, ordinal], { log: chainTransfer, order: depositOrder, at: observer })
    .from(depositOrder)
    .innerJoin(chainTransfer, eq(orderId, depositOrder.orderId))
    .innerJoin(observer, eq(observer.chainId, depositOrder.chainId))
    .where(ofSubjects)
    .orderBy(orderId, txHash, ordinal, desc(canonical), desc(blockNumber), asc(blockHash));
  return rows
    .filter((row) => isNamed(engine, row))
    .map((row) => arrivalOf(engine, row))
    .sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** As `holdView`, of every chain that has an order of them. */
async function holdViews(tx: Tx, ofSubjects: ReturnType<typeof inArray>): Promise<void> {
  const chains = tx.select({ chainId: depositOrder.chainId }).from(depositOrder).where(ofSubjects);
  await tx
    .select({ fence: observer.fence })
    .from(observer)
    .where(inArray(observer.chainId, chains))
    .orderBy(observer.chainId)
    .for("key share");
}

/** What came in a token that is not listed has no name in the books: nobody could book it, and anybody could send it. */
function isNamed(
  engine: Engine,
  {
    log,
    order,
  }: { readonly log: typeof chainTransfer.$inferSelect; readonly order: typeof depositOrder.$inferSelect },
): boolean {
  const { tokens } = servedChain(engine.chains, order.chainId).chain.row;
  return log.bookings > 0 || tokens.some(({ contract }) => contract === log.token);
}

function arrivalOf(
  engine: Engine,
  row: {
    readonly log: typeof chainTransfer.$inferSelect;
    readonly order: typeof depositOrder.$inferSelect;
    readonly at: typeof observer.$inferSelect;
  },
): Arrival {
  const { log, order, at } = row;
  // To leave it out would look like a reorganisation.
  const { chain } = servedChain(engine.chains, order.chainId);
  const token = chain.row.tokens.find(({ contract }) => contract === log.token);
  assert(token, `the token ${log.token} is listed on ${chain.row.slug}`);
  const isTaken = log.claimedKind !== null;
  const { txHash, logIndex, ordinal, blockNumber, blockHash, blockTime, sender, amount } = log;
  return {
    subject: order.subject,
    orderId: order.orderId,
    chain: chain.row.slug,
    asset: token.symbol,
    ...{ txHash, logIndex, ordinal, blockNumber, blockHash, blockTime, sender, amount },
    isCanonical: log.canonical,
    confirmations: log.canonical ? Math.max(at.cursorNumber - blockNumber + 1, 0) : 0,
    isFinal: log.canonical && blockNumber <= at.finalizedNumber,
    isTaken,
    booking: log.canonical && !isTaken ? log.bookings + 1 : Math.max(log.bookings, 1),
  };
}

/** Marks logs as booked by the caller in this transaction: one log pays one thing. Asserts that each reached an order, is
 *  canonical and not taken. */
export async function takeArrivals(
  engine: Engine,
  tx: Tx,
  logs: readonly Pick<Arrival, "chain" | "blockHash" | "logIndex">[],
): Promise<void> {
  if (logs.length === 0) return;
  const chainIds = logs.map(({ chain }) => chainNamed(engine, chain).chain.row.chainId);
  const { rowCount } = await tx.execute(sql`
    UPDATE chain_transfer AS log SET bookings = log.bookings + 1,
      claimed_kind = CASE WHEN deposit_order.address_index IS NULL THEN 'routed' ELSE 'deposit' END
    FROM deposit_order, unnest(
      ${sql.param(chainIds)}::bigint[], ${toBytesArray(logs.map(({ blockHash }) => blockHash))},
      ${sql.param(logs.map(({ logIndex }) => logIndex))}::int[]) AS place(chain_id, block_hash, log_index)
    WHERE log.chain_id = place.chain_id AND log.block_hash = place.block_hash AND log.log_index = place.log_index
      AND deposit_order.order_id = log.order_id AND log.canonical AND log.claimed_kind IS NULL`);
  assert(rowCount === logs.length, "each log that is taken is canonical, of an order, and not taken yet");
}
