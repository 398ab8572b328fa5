/** The row of a chain's observer: how far the chain was followed, and which process follows it. */
import { and, eq, getTableColumns, sql } from "drizzle-orm";
import { post, templates } from "#ledger";
import type { Tx } from "#store";
import type { Chain } from "../../chain/port.ts";
import { assetOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { isOver } from "../lease.ts";
import { chainBlock, followedToken, observer } from "./tables.ts";

export type ObserverRow = typeof observer.$inferSelect;

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

/** Takes or renews the right to follow a chain; null while another process has it. The first start begins at the final
 *  block: what happened before was not ours. Faults: `chain_unavailable`. */
export async function leaseObserver(engine: Engine, chain: Chain): Promise<ObserverRow | null> {
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

/** Tells the others that the head was reached just now. */
export async function tellFollowed({ loopDb }: Engine, { chainId, fence }: ObserverRow): Promise<void> {
  await loopDb.pool
    .update(observer)
    .set({ followedAt: sql`now()` })
    .where(and(eq(observer.chainId, chainId), eq(observer.fence, fence)));
}

/** At a final block: one that may leave the chain would take all that we know with it. */
async function begin(engine: Engine, chain: Chain): Promise<void> {
  const from = await chain.finalized();
  const { chainId } = chain.row;
  const held = await heldAt(chain, from.number);
  const opening = held.map(({ contract, amount }) =>
    templates.treasuryOpened({ asset: assetOf(chain.row, contract), amount, blockNumber: from.number }),
  );
  await engine.loopDb.tx(async (tx) => {
    const start = { startBlock: from.number, cursorNumber: from.number, cursorHash: from.hash };
    const begun = await tx
      .insert(observer)
      .values({ chainId, ...start, finalizedNumber: from.number })
      .onConflictDoNothing()
      .returning({ chainId: observer.chainId });
    if (begun.length === 0) return;
    const { number, hash, parentHash: parent, timestamp } = from;
    const first = { chainId, number, hash, parent, timestamp, canonical: true };
    await tx.insert(chainBlock).values(first).onConflictDoNothing();
    const followed = held.map(({ contract: token }) => ({ chainId, token, sinceBlock: from.number }));
    if (followed.length > 0) await tx.insert(followedToken).values(followed).onConflictDoNothing();
    await post(tx, opening);
  });
}

/** What the treasury held of each token that says so. One that does not, or is none, is followed once it does, and keeps no
 *  other back. Rejects where all are silent: that is the chain. */
async function heldAt(chain: Chain, block: number) {
  const { tokens, treasury } = chain.row;
  const asked = tokens.map(async ({ contract }) => ({
    contract,
    amount: await chain.tokenBalance(contract, treasury, block),
  }));
  const answers = await Promise.allSettled(asked);
  const held = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  if (held.length === 0) await Promise.all(asked);
  return held;
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
