import { and, eq, getTableColumns, gt, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { post, templates } from "#ledger";
import { decodeRows, type Executor, fixed, type Tx, toBytesArray } from "#store";
import type { BlockRef, Chain, MoneyLog } from "../chain/port.ts";
import { moveClaims } from "./claim.ts";
import { assetOf } from "./coin.ts";
import type { WatchList } from "./deposit/watch.ts";
import type { Engine } from "./engine.ts";
import { isOver } from "./lease.ts";
import { pairTransfers, spentKeys } from "./pairing.ts";
import { recordTransfers } from "./record.ts";
import { reverseAbove } from "./reorg.ts";
import { chainBlock, chainTransfer, claim, observer } from "./tables.ts";

export type ObserverRow = typeof observer.$inferSelect;

/** The lowest block whose transfers are recorded: the one at which following begins is none of them, and what it moved is in
 *  what the treasury held then. */
export const firstRecorded = ({ startBlock }: Pick<ObserverRow, "startBlock">) => startBlock + 1;

/** Most blocks followed in one turn; the rest waits for the next, so that crediting keeps pace. */
const BLOCKS_PER_TURN = 50;

/** How far a chain has been followed, by this process or another, and whether this one may follow it from now on; null
 *  where nobody has begun. One read, and no lock. */
export async function lookAtObserver(
  engine: Engine,
  chainId: number,
): Promise<{ readonly at: ObserverRow; readonly isFree: boolean } | null> {
  const { leaseHolder, leaseUntil } = observer;
  const isFree = sql<boolean>`(${leaseHolder} = ${engine.holder} OR ${isOver(engine, leaseHolder, leaseUntil)})`;
  const [row] = await engine.loopDb.pool
    .select({ at: getTableColumns(observer), isFree })
    .from(observer)
    .where(eq(observer.chainId, chainId));
  return row ?? null;
}

/** Takes or renews the right to follow a chain; null while another process has it. `hasFollowed` tells that the head was
 *  reached since the last renewal. The first start begins at
 *  the final block: what happened before was not ours. Faults: `chain_unavailable`. */
export async function leaseObserver(
  engine: Engine,
  chain: Chain,
  hasFollowed: boolean,
): Promise<ObserverRow | null> {
  const { chainId } = chain.row;
  const { holder, settings } = engine;
  await engine.presence?.show();
  const [known] = await engine.loopDb.pool.select().from(observer).where(eq(observer.chainId, chainId));
  if (!known) await begin(engine, chain);
  const [row] = await engine.loopDb.pool
    .update(observer)
    .set({
      leaseHolder: holder,
      leaseUntil: sql`now() + make_interval(secs => ${settings.leaseSeconds})`,
      ...(hasFollowed ? { followedAt: sql`now()` } : {}),
      fence: sql`CASE WHEN ${observer.leaseHolder} = ${holder} THEN ${observer.fence} ELSE ${observer.fence} + 1 END`,
    })
    .where(
      and(
        eq(observer.chainId, chainId),
        sql`(${observer.leaseHolder} = ${holder} OR ${isOver(engine, observer.leaseHolder, observer.leaseUntil)})`,
      ),
    )
    .returning();
  return row ?? null;
}

/** At a final block: one that may leave the chain would take all that we know with it. */
async function begin(engine: Engine, chain: Chain): Promise<void> {
  const from = await chain.finalized();
  const { chainId, tokens, treasury } = chain.row;
  const held = await Promise.all(
    tokens.map(({ contract }) => chain.tokenBalance(contract, treasury, from.number)),
  );
  const opening = tokens.map(({ contract }, i) =>
    templates.treasuryOpened({
      asset: assetOf(chain.row, contract),
      amount: held[i] ?? 0n,
      blockNumber: from.number,
    }),
  );
  await engine.loopDb.tx(async (tx) => {
    const start = { startBlock: from.number, cursorNumber: from.number, cursorHash: from.hash };
    const begun = await tx
      .insert(observer)
      .values({ chainId, ...start, finalizedNumber: from.number })
      .onConflictDoNothing()
      .returning({ chainId: observer.chainId });
    if (begun.length === 0) return;
    await tx.insert(chainBlock).values(blockRow(chainId, from)).onConflictDoNothing();
    await post(tx, opening);
  });
}

/** Keeps a reorganisation from being booked, here or by another process, until a transaction that books by our view has
 *  ended; new blocks may be recorded meanwhile. False when another process has taken over. */
export async function holdView(tx: Tx, chain: Chain, at: ObserverRow): Promise<boolean> {
  const [row] = await tx
    .select({ fence: observer.fence })
    .from(observer)
    .where(and(eq(observer.chainId, chain.row.chainId), eq(observer.fence, at.fence)))
    .for("key share");
  return row !== undefined;
}

export async function releaseObservers(engine: Engine): Promise<void> {
  await engine.loopDb.pool
    .update(observer)
    .set({ leaseHolder: null, leaseUntil: null })
    .where(eq(observer.leaseHolder, engine.holder));
}

/** Follows the chain by parent hash from the cursor to the head, one committed block at a time; rewinds first where the
 *  chain has another block at our height. Returns the cursor's new place, or null when the lease was lost. */
export async function follow(
  engine: Engine,
  chain: Chain,
  from: ObserverRow,
  watched: WatchList,
): Promise<ObserverRow | null> {
  const head = await chain.head();
  let at: ObserverRow | null = from;
  if (head.number < from.cursorNumber) return rewindShorter(engine, chain, from, head);
  if (head.number === from.cursorNumber)
    return head.hash === from.cursorHash ? from : rewind(engine, chain, from);
  const last = Math.min(head.number, from.cursorNumber + BLOCKS_PER_TURN);
  for (let number = from.cursorNumber + 1; at && number <= last; number += 1) {
    const block: BlockRef | null = number === head.number ? head : await chain.blockAt(number);
    if (block) await watched.refresh();
    const logs = block && (await chain.moneyLogs(block, [chain.row.treasury, ...watched.addresses()]));
    // The endpoint does not know what it told us of: a lagging or forked view. The next turn asks again.
    if (!block || !logs) return at;
    if (block.parentHash !== at.cursorHash) return rewind(engine, chain, at);
    at = await record(engine, chain, at, { block, logs, watched });
  }
  return at;
}

function blockRow(chainId: number, { number, hash, parentHash, timestamp }: BlockRef) {
  return { chainId, number, hash, parent: parentHash, timestamp, canonical: true };
}

interface Seen {
  readonly block: BlockRef;
  readonly logs: readonly MoneyLog[];
  readonly watched: WatchList;
}

/** One block with its transfers and spent nonces, and the cursor on it, at once and under the fence. Most blocks have
 *  nothing for us: those are one statement. */
async function record(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  seen: Seen,
): Promise<ObserverRow | null> {
  const { loopDb } = engine;
  const next =
    seen.logs.length === 0
      ? await moveOn(loopDb.pool, at, seen.block)
      : await loopDb.tx((tx) => moveOnAndNote(engine, tx, chain, at, seen));
  await engine.checkpoint("observed");
  return next;
}

async function moveOnAndNote(
  engine: Engine,
  tx: Tx,
  chain: Chain,
  at: ObserverRow,
  { block, logs, watched }: Seen,
): Promise<ObserverRow | null> {
  const { chainId } = chain.row;
  const moved = await moveOn(tx, at, block);
  if (!moved) return null;
  const transfers = pairTransfers(chainId, logs);
  await recordTransfers(engine, tx, chain, { block, transfers, watched });
  await noteSpent(engine, tx, chain, block, spentKeys(chainId, logs, transfers));
  return moved;
}

/** Puts the cursor on the next block; null when another process has moved it, or taken over. */
async function moveOn(db: Executor, at: ObserverRow, block: BlockRef): Promise<ObserverRow | null> {
  const cursor = { cursorNumber: block.number, cursorHash: block.hash };
  const isStill = and(
    eq(observer.chainId, at.chainId),
    eq(observer.fence, at.fence),
    eq(observer.cursorHash, at.cursorHash),
  );
  const columns = getTableColumns(observer);
  const { rows } = await db.execute(sql`
    WITH moved AS ${db.update(observer).set(cursor).where(isStill).returning()},
      met AS (INSERT INTO chain_block (chain_id, number, hash, parent, timestamp, canonical)
        SELECT chain_id, cursor_number, cursor_hash, (${toBytesArray([block.parentHash])})[1], ${block.timestamp}::bigint, true
        FROM moved ON CONFLICT (chain_id, hash) DO UPDATE SET canonical = true)
    SELECT * FROM moved`);
  return decodeRows(columns, rows)[0] ?? null;
}

/** Nonces cancelled, or used without paying what was claimed: their claims cannot settle. Terminal only once the block
 *  is final. */
async function noteSpent(
  engine: Engine,
  tx: Tx,
  chain: Chain,
  block: BlockRef,
  keys: readonly Hash[],
): Promise<void> {
  await markSpent(engine, tx, [...keys, ...(await paidOtherwise(tx, chain, block))], block);
}

/** Claims whose nonce moved another amount to us, or moved it elsewhere: a payer may sign one nonce twice. */
async function paidOtherwise(tx: Tx, chain: Chain, block: BlockRef): Promise<readonly Hash[]> {
  const rows = await tx
    .select({ claimKey: claim.claimKey })
    .from(chainTransfer)
    .innerJoin(claim, eq(claim.claimKey, chainTransfer.authorizationKey))
    .where(
      and(
        eq(chainTransfer.chainId, chain.row.chainId),
        eq(chainTransfer.blockHash, block.hash),
        sql`(${claim.amount} <> ${chainTransfer.amount} OR ${claim.payTo} <> ${chainTransfer.recipient})`,
      ),
    );
  return rows.map(({ claimKey }) => claimKey);
}

const SPENT_MESSAGE = "The authorization was cancelled, or used without paying here. Sign a fresh one.";

/** Nonces cancelled, or used without paying what was claimed: their claims cannot settle. Terminal only once the block
 *  is final. */
export async function markSpent(
  engine: Engine,
  tx: Tx,
  keys: readonly Hash[],
  block: { number: number; hash: Hash },
): Promise<void> {
  if (keys.length === 0) return;
  const spent = {
    spentBlock: block.number,
    spentHash: block.hash,
    reason: "invalid_exact_evm_nonce_already_used" as const,
    message: SPENT_MESSAGE,
  };
  await moveClaims(engine, tx, {
    keys,
    to: "failed-watch",
    cause: "nonce spent elsewhere",
    set: spent,
    fact: "settlement.failed",
  });
  await tx.execute(sql`
    UPDATE claim SET spent_block = ${block.number}, spent_hash = (${toBytesArray([block.hash])})[1], message = ${SPENT_MESSAGE},
      reason = 'invalid_exact_evm_nonce_already_used'
    WHERE claim_key = ANY(${toBytesArray(keys)}) AND state IN ('failed-watch','review') AND spent_block IS NULL`);
}

/** The chain has another block at a height of ours: finds the last common one, and takes back what stood above it. */
async function rewind(engine: Engine, chain: Chain, at: ObserverRow): Promise<ObserverRow | null> {
  const ancestor = await commonAncestor(engine, chain, at.cursorNumber);
  if (ancestor === "unsaid") return at;
  if (!ancestor) return halt(engine, chain, at, null);
  if (ancestor.number < (await finalizedOf(engine, chain))) return halt(engine, chain, at, ancestor.number);
  engine.log.warn(
    { chain: chain.row.slug, from: at.cursorNumber, to: ancestor.number },
    "reorganisation: blocks left the chain",
  );
  return moveBack(engine, chain, at, ancestor);
}

type Place = { readonly number: number; readonly hash: Hash };

async function finalizedOf(engine: Engine, chain: Chain): Promise<number> {
  const [row] = await engine.loopDb.pool
    .select({ number: observer.finalizedNumber })
    .from(observer)
    .where(eq(observer.chainId, chain.row.chainId));
  return row?.number ?? 0;
}

async function moveBack(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  ancestor: Place & { finalizedNumber?: number },
): Promise<ObserverRow | null> {
  const { chainId } = chain.row;
  return engine.loopDb.tx(async (tx) => {
    // Stronger than an update's own lock: waits for whoever books by the view that is about to change.
    await tx
      .select({ fence: observer.fence })
      .from(observer)
      .where(eq(observer.chainId, chainId))
      .for("update");
    const [moved] = await tx
      .update(observer)
      .set({
        cursorNumber: ancestor.number,
        cursorHash: ancestor.hash,
        finalizedNumber: sql`least(${observer.finalizedNumber}, ${ancestor.number}::bigint)`,
      })
      .where(
        and(
          eq(observer.chainId, chainId),
          eq(observer.fence, at.fence),
          eq(observer.cursorHash, at.cursorHash),
        ),
      )
      .returning();
    if (!moved) return null;
    await reverseAbove(engine, tx, chain.row, ancestor.number);
    await tx
      .update(chainBlock)
      .set({ canonical: false })
      .where(and(eq(chainBlock.chainId, chainId), gt(chainBlock.number, ancestor.number)));
    return moved;
  });
}

/** How many of our blocks are compared with the chain's; what goes deeper is no reorganisation. */
const COMPARED_BLOCKS = 1_000;

/** Our highest block that the chain still has, or null when all of them are other ones there; `unsaid` when the endpoint
 *  does not tell, so that nothing may be taken back. */
async function commonAncestor(engine: Engine, chain: Chain, from: number): Promise<Place | null | "unsaid"> {
  const ours = await engine.loopDb.pool
    .select({ number: chainBlock.number, hash: chainBlock.hash })
    .from(chainBlock)
    .where(
      and(
        eq(chainBlock.chainId, chain.row.chainId),
        fixed(eq(chainBlock.canonical, true)),
        sql`${chainBlock.number} <= ${from}`,
      ),
    )
    .orderBy(sql`${chainBlock.number} DESC`)
    .limit(COMPARED_BLOCKS);
  for (const place of ours) {
    const theirs = await chain.blockAt(place.number);
    if (!theirs) return "unsaid";
    if (theirs.hash === place.hash) return place;
  }
  return null;
}

/** A view shorter than ours takes nothing back: it is a lagging node, or one in the middle of a reorganisation, which is
 *  seen for what it is once it has a block at our height. Save on a local chain that was killed before it saved its state:
 *  there, if our highest block with a transfer or transaction of ours still stands, only blocks without us are gone. */
async function rewindShorter(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  head: BlockRef,
): Promise<ObserverRow | null> {
  if (!chain.row.isLocal) return at;
  const known = await commonAncestor(engine, chain, head.number);
  if (known === "unsaid") return at;
  if (known && known.number >= (await highestOfOurs(engine, chain.row.chainId))) {
    engine.log.warn(
      { chain: chain.row.slug, from: at.cursorNumber, to: known.number },
      "the local chain lost its last empty blocks; going on from where it stands",
    );
    return moveBack(engine, chain, at, known);
  }
  const isFinalGone = !known || known.number < (await finalizedOf(engine, chain));
  return isFinalGone ? halt(engine, chain, at, known?.number ?? null) : at;
}

async function highestOfOurs(engine: Engine, chainId: number): Promise<number> {
  const { rows } = await engine.loopDb.pool.execute<{ height: string | null }>(sql`
    SELECT greatest(
      (SELECT max(block_number) FROM chain_transfer WHERE chain_id = ${chainId} AND canonical),
      (SELECT max(mined_block) FROM slot WHERE chain_id = ${chainId}), 0) AS height`);
  return Number(rows[0]?.height ?? 0);
}

/** A final block was taken away, or all that we know. Crediting on this chain stops; rows are never edited; a person decides. */
async function halt(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  ancestor: number | null,
): Promise<ObserverRow | null> {
  const advice = chain.row.isLocal
    ? " The local chain and the books no longer fit: `npm run reset` starts both anew."
    : "";
  const what =
    ancestor === null
      ? `has no block in common with the last ${COMPARED_BLOCKS} that were followed up to ${at.cursorNumber}`
      : `replaced blocks above ${ancestor} that were final at ${at.finalizedNumber}`;
  const haltedReason = `The chain ${chain.row.slug} ${what}.${advice}`;
  const [row] = await engine.loopDb.pool
    .update(observer)
    .set({ haltedReason })
    .where(and(eq(observer.chainId, chain.row.chainId), eq(observer.fence, at.fence)))
    .returning();
  engine.log.error({ chain: chain.row.slug, ancestor }, haltedReason);
  return row ?? null;
}
