/** What the chain took back: blocks of ours that are others there, or that are gone. */
import { and, eq, gt, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { fixed } from "#store";
import type { BlockRef, Chain } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";
import type { ObserverRow } from "./observer.ts";
import { reverseAbove } from "./reorg.ts";
import { chainBlock, observer } from "./tables.ts";

/** The chain has another block at a height of ours: finds the last common one, and takes back what stood above it. */
export async function rewind(engine: Engine, chain: Chain, at: ObserverRow): Promise<ObserverRow | null> {
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
export async function rewindShorter(
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

/** A final block was taken away, or all that we know. Crediting on this chain stops; rows are never edited; a person
 *  decides. */
async function halt(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  ancestor: number | null,
): Promise<ObserverRow | null> {
  const advice = chain.row.isLocal
    ? " The local chain and the books no longer fit: `npm run reset` starts both anew."
    : ` When its endpoints tell the truth, farebox chains resume ${chain.row.slug} follows it again.`;
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
