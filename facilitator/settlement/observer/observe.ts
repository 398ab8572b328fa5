import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { decodeRows, type Executor, type Tx, toBytesArray, together, toNumericArray } from "#store";
import type { BlockRef, Chain } from "../../chain/port.ts";
import { moveClaims } from "../claim/claim.ts";
import { claim } from "../claim/tables.ts";
import type { WatchList } from "../deposit/watch.ts";
import type { Engine } from "../engine.ts";
import { type NewBlock, newBlocks, type Sought } from "./new-blocks.ts";
import type { ObserverRow } from "./observer.ts";
import { type PairedTransfer, pairTransfers, spentKeys } from "./pairing.ts";
import { recordTransfers } from "./record.ts";
import { rewind, rewindShorter } from "./rewind.ts";
import { observer } from "./tables.ts";

/** How far a chain has been followed. */
interface Followed {
  /** The cursor's new place; null when the lease was lost. */
  readonly at: ObserverRow | null;
  /** Whether its new blocks moved money of ours, or spent a nonce. */
  readonly broughtMoney: boolean;
  /** Whether the cursor has reached the head as it was when this turn began. */
  readonly isAtHead: boolean;
}

/** Follows the chain by parent hash from the cursor to the head, one committed block at a time; rewinds first where the
 *  chain has another block at our height. */
export async function follow(
  engine: Engine,
  chain: Chain,
  from: ObserverRow,
  sought: Sought,
): Promise<Followed> {
  const head = await chain.head();
  let broughtMoney = false;
  const moved = (to: ObserverRow | null): Followed => {
    const isAtHead = to !== null && (to.cursorHash === head.hash || to.cursorNumber > head.number);
    return { at: to, broughtMoney, isAtHead };
  };
  let at: ObserverRow | null = from;
  if (head.number < from.cursorNumber) return moved(await rewindShorter(engine, chain, from, head));
  if (head.number === from.cursorNumber)
    return moved(head.hash === from.cursorHash ? from : await rewind(engine, chain, from));
  for await (const { block, logs } of newBlocks(chain, { after: from.cursorNumber, head }, sought)) {
    if (block.parentHash !== at.cursorHash) return moved(await rewind(engine, chain, at));
    at = await record(engine, chain, at, { block, logs, watched: sought.watched });
    if (!at) break;
    broughtMoney ||= logs.length > 0;
  }
  return moved(at);
}

interface Seen extends NewBlock {
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
      : await loopDb.tx((tx) => moveOnAndNote(engine, tx, chain, at, seen)).catch(nullIfOvertaken);
  await engine.checkpoint("observed");
  return next;
}

/** Another process has moved the cursor, or taken over: nothing of a block may be written. */
class Overtaken extends Error {}

function nullIfOvertaken(error: unknown): null {
  if (error instanceof Overtaken) return null;
  throw error;
}

async function moveOnAndNote(
  engine: Engine,
  tx: Tx,
  chain: Chain,
  at: ObserverRow,
  { block, logs, watched }: Seen,
): Promise<ObserverRow> {
  const { chainId } = chain.row;
  const transfers = pairTransfers(chainId, logs);
  const [moved, otherwise] = await together([
    moveOn(tx, at, block),
    paidOtherwise(tx, transfers),
    recordTransfers(engine, tx, chain, { block, transfers, watched }),
  ]);
  if (!moved) throw new Overtaken();
  // What a block spent: by its logs of nonces, and by transfers that are not what was claimed.
  await markSpent(engine, tx, [...spentKeys(chainId, logs, transfers), ...otherwise], block);
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

/** Claims whose nonce moved another amount to us, or moved it elsewhere: a payer may sign one nonce twice. */
async function paidOtherwise(tx: Tx, transfers: readonly PairedTransfer[]): Promise<readonly Hash[]> {
  const uses = transfers.flatMap(({ authorizationKey: key, ...use }) =>
    key === null ? [] : [{ ...use, key }],
  );
  if (uses.length === 0) return [];
  const rows = await tx
    .select({ claimKey: claim.claimKey })
    .from(
      sql`unnest(
        ${toBytesArray(uses.map(({ key }) => key))},
        ${toNumericArray(uses.map(({ amount }) => amount))},
        ${toBytesArray(uses.map(({ to }) => to))}) AS paid(key, amount, recipient)`,
    )
    .innerJoin(claim, sql`${claim.claimKey} = paid.key`)
    .where(sql`(${claim.amount} <> paid.amount OR ${claim.payTo} <> paid.recipient)`);
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
