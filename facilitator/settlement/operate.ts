/** What an operator does by hand: with gas keys, with a chain that was halted, and after a restore from a backup. */
import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { depositAddressIndex } from "./deposit/tables.ts";
import { type Engine, namedChain, type OpenChain } from "./engine.ts";
import { signer } from "./lane/tables.ts";
import { isOver } from "./lease.ts";
import { observer } from "./observer/tables.ts";

/** One gas key on one chain. */
export interface LaneRef {
  /** Slug. */
  readonly chain: string;
  readonly address: Address;
}

/** A lane that signs again: from which nonce, and which it would have taken before. */
export interface ResumedLane extends LaneRef {
  readonly nonce: number;
  readonly before: number;
}

/** Has a lane sign nothing more; what was sent is looked after. False where there is no such lane. */
export async function quarantineLane({ loopDb, chains }: Engine, lane: LaneRef): Promise<boolean> {
  const open = namedChain(chains, lane.chain);
  if (!open) return false;
  const stopped = await loopDb.pool
    .update(signer)
    .set({ state: "quarantined" })
    .where(rowOf(open, lane.address))
    .returning({ address: signer.address });
  return stopped.length > 0;
}

/** Has a lane sign again, behind every nonce that the chain says is used, whoever used it. Null where there is no such
 *  lane. Fault: `chain_unavailable`. */
export function resumeLane(engine: Engine, lane: LaneRef): Promise<ResumedLane | null> {
  return moveLane(engine, lane, { state: "active" });
}

/** The same with a lane that may go on as it is: one that was quarantined stays so. */
async function moveLane(
  { loopDb, chains, log }: Engine,
  lane: LaneRef,
  state: Partial<Pick<typeof signer.$inferSelect, "state">>,
): Promise<ResumedLane | null> {
  const open = namedChain(chains, lane.chain);
  if (!open) return null;
  const used = await open.chain.nonce(lane.address, "latest");
  return loopDb.tx(async (tx) => {
    const isLane = rowOf(open, lane.address);
    const [known] = await tx.select().from(signer).where(isLane).for("update");
    if (!known) return null;
    const nonce = Math.max(known.nextNonce, used);
    await tx
      .update(signer)
      .set({ ...state, nextNonce: nonce })
      .where(isLane);
    log.warn(
      { chain: lane.chain, lane: lane.address, nonce },
      "an operator has a lane go on from another nonce",
    );
    return { ...lane, nonce, before: known.nextNonce };
  });
}

/** Follows a chain again that was halted; it is halted anew if what was final is still not there. Returns why it was,
 *  null where it was not. */
export async function resumeChain({ loopDb, chains, log }: Engine, slug: string): Promise<string | null> {
  const open = namedChain(chains, slug);
  if (!open) return null;
  return loopDb.tx(async (tx) => {
    const isHalted = and(eq(observer.chainId, open.chain.row.chainId), isNotNull(observer.haltedReason));
    const [halted] = await tx.select().from(observer).where(isHalted).for("update");
    if (!halted) return null;
    await tx.update(observer).set({ haltedReason: null }).where(isHalted);
    log.warn({ chain: slug, why: halted.haltedReason }, "an operator has a halted chain followed again");
    return halted.haltedReason;
  });
}

/** What of the time after the backup nobody may use twice. */
export interface Restored {
  /** Lanes whose nonces are behind those of the chain. */
  readonly lanes: readonly ResumedLane[];
  /** Deposit addresses that may have been given away since: none of them is given again. */
  readonly skipped: { readonly first: number; readonly last: number };
}

/** More deposit addresses than were given away since any backup. */
const SKIPPED = 100_000;

/** To be called once after the database was put back to an earlier time, before anything is served. What was paid since
 *  is found on the chain as it is followed. Null while a process follows one. Fault: `chain_unavailable`. */
export async function afterRestore(engine: Engine): Promise<Restored | null> {
  if (await isServed(engine)) return null;
  const { rows } = await engine.loopDb.pool.execute<{ first: string; last: string }>(sql`
    SELECT min(index) AS first, max(index) AS last
    FROM (SELECT nextval(${depositAddressIndex.seqName}) AS index FROM generate_series(1, ${SKIPPED})) AS given`);
  // Nothing that may have left is taken back before the head has been reached again.
  await engine.loopDb.pool.update(observer).set({ followedAt: null });
  const lanes: ResumedLane[] = [];
  for (const lane of await lanesBehind(engine)) {
    const moved = await moveLane(engine, lane, {});
    if (moved) lanes.push(moved);
  }
  return { lanes, skipped: { first: Number(rows[0]?.first), last: Number(rows[0]?.last) } };
}

async function isServed(engine: Engine): Promise<boolean> {
  const following = await engine.loopDb.pool
    .select({ chainId: observer.chainId })
    .from(observer)
    .where(sql`NOT ${isOver(engine, observer.leaseHolder, observer.leaseUntil)}`);
  return following.length > 0;
}

async function lanesBehind({ loopDb, chains }: Engine): Promise<readonly LaneRef[]> {
  const known = await loopDb.pool.select().from(signer).orderBy(signer.chainId, signer.address);
  const behind: LaneRef[] = [];
  for (const { chainId, address, nextNonce } of known) {
    const open = chains.get(chainId);
    if (open && (await open.chain.nonce(address, "latest")) > nextNonce)
      behind.push({ chain: open.chain.row.slug, address });
  }
  return behind;
}

const rowOf = ({ chain }: OpenChain, address: Address) =>
  and(eq(signer.chainId, chain.row.chainId), eq(signer.address, address));
