import { and, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { resolvePending, templates } from "#ledger";
import { fixed, readRows, type Tx, toBytesArray, together } from "#store";
import type { BlockRef, Chain } from "../../chain/port.ts";
import { type Claim, eventKeyOf, findClaims, moveClaims, tellFacts } from "../claim/claim.ts";
import { readOf } from "../claim/claim-call.ts";
import { isPaid } from "../claim/proof.ts";
import { resolveUsed } from "../claim/refuse.ts";
import { releaseUnpaid } from "../claim/release.ts";
import { claim } from "../claim/tables.ts";
import { closeSweeps } from "../deposit/sweep.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { laneOf } from "../verify/examine.ts";
import { isCanonical, isFollowed } from "./canonical.ts";
import { isListed } from "./delisted.ts";
import { holdView, type ObserverRow } from "./observer.ts";
import { chainTransfer, observer } from "./tables.ts";

const GROUP = 250;

/** Follows the chain's `finalized` block: posts what was pending, ends what can never be paid any more. Returns the keys
 *  of claims that ended. */
export async function finalize(engine: Engine, open: OpenChain, at: ObserverRow): Promise<readonly Hash[]> {
  const { chain } = open;
  const block = await chain.finalized();
  const number = Math.min(block.number, at.cursorNumber);
  if (!(await isOfOurView(engine, chain, at, block))) return [];
  if (number > at.finalizedNumber) await advance(engine, chain, at, number);
  const view = { ...at, finalizedNumber: Math.max(number, at.finalizedNumber) };
  const due = await lookForDue(engine, chain, view, block);
  if (due.credits) await postAllFinal(engine, chain, view);
  if (due.unmatched) while (await postUnmatched(engine, chain, view));
  const ended: Hash[] = [];
  if (due.spent) ended.push(...(await endCancelled(engine, chain, view)));
  if (due.expired) ended.push(...(await endExpired(engine, open, view, block)));
  if (due.orphans) await requeueOrphans(engine, chain);
  return ended;
}

/** What a final block leaves to do. */
interface Due extends Record<string, unknown> {
  readonly credits: boolean;
  readonly unmatched: boolean;
  readonly spent: boolean;
  readonly expired: boolean;
  readonly orphans: boolean;
}

/** One look, and no lock: most blocks leave nothing. What is due later than this look, the next block's finds. */
async function lookForDue(engine: Engine, chain: Chain, at: ObserverRow, finalized: BlockRef): Promise<Due> {
  const {
    rows: [due],
  } = await engine.loopDb.pool.execute<Due>(sql`
    SELECT EXISTS (SELECT FROM ${claim} WHERE ${isIncludedBelow(chain, at)}) AS credits,
      EXISTS (SELECT FROM ${chainTransfer} WHERE ${isUnmatchedBelow(chain, at)}) AS unmatched,
      EXISTS (SELECT FROM ${claim} WHERE ${isSpentBelow(chain, at)}) AS spent,
      EXISTS (SELECT FROM ${claim} WHERE ${isExpired(chain, finalized)}) AS expired,
      EXISTS (SELECT FROM ${claim} WHERE ${isOrphan(chain)}) AS orphans`);
  assert(due, "a look has an answer");
  return due;
}

/** Whether the chain's final block is one that we followed, or comes after our cursor on the same branch. A number alone
 *  says nothing: it may be of a branch that we have yet to turn to. */
async function isOfOurView(engine: Engine, chain: Chain, at: ObserverRow, block: BlockRef): Promise<boolean> {
  if (block.number > at.cursorNumber) return (await chain.blockAt(at.cursorNumber))?.hash === at.cursorHash;
  return block.number < at.startBlock || isFollowed(engine, chain, block.hash);
}

async function advance(engine: Engine, chain: Chain, at: ObserverRow, number: number): Promise<void> {
  await engine.loopDb.pool
    .update(observer)
    .set({ finalizedNumber: number })
    .where(and(eq(observer.chainId, chain.row.chainId), eq(observer.fence, at.fence)));
}

async function postAllFinal(engine: Engine, chain: Chain, at: ObserverRow): Promise<void> {
  for (;;) {
    const posted = await postFinal(engine, chain, at);
    if (posted > 0) await engine.checkpoint("final");
    if (posted < GROUP) return;
  }
}

const isIncludedBelow = (chain: Chain, at: ObserverRow) =>
  and(
    eq(claim.chainId, chain.row.chainId),
    fixed(eq(claim.state, "included")),
    lte(claim.includedBlock, at.finalizedNumber),
  );

/** Credited claims whose block is final: their money can be spent. Returns how many of them. */
async function postFinal(engine: Engine, chain: Chain, at: ObserverRow): Promise<number> {
  return engine.loopDb.tx(async (tx) => {
    const [isHeld, claims] = await together([holdView(tx, chain, at), findFinal(tx, chain, at)]);
    if (!isHeld || claims.length === 0) return 0;
    for (const { includedAt } of claims) {
      if (includedAt)
        engine.meter.time("final", Math.max(0, engine.clock.now().getTime() - includedAt.getTime()) / 1000);
    }
    await together([
      resolvePending(tx, "post", claims.map(eventKeyOf)),
      markFinal(tx, claims),
      tellFacts(engine, tx, "settlement.final", claims, ({ includedTx }) => ({
        reason: null,
        transaction: includedTx,
      })),
      closeSweeps(tx, claims),
    ]);
    await engine.checkpoint("before-final");
    return claims.length;
  });
}

/** They are locked since they were found: nothing of them is looked at again. */
async function markFinal(tx: Tx, claims: readonly FinalClaim[]): Promise<void> {
  const update = tx
    .update(claim)
    .set({
      state: "final",
      creditState: "final",
      version: sql`${claim.version} + 1`,
      updatedAt: sql`now()`,
    })
    .where(sql`${claim.claimKey} = ANY(${toBytesArray(claims.map(({ claimKey }) => claimKey))})`)
    .returning({ id: claim.id, version: claim.version });
  const { rowCount } = await tx.execute(sql`
    WITH moved AS ${update}
    INSERT INTO claim_event (claim_id, version, state, "from", cause)
    SELECT id, version, 'final', 'included', 'its block is final' FROM moved`);
  assert(rowCount === claims.length, "what is final are exactly the claims that were found");
}

const finalColumns = {
  claimKey: claim.claimKey,
  id: claim.id,
  kind: claim.kind,
  merchantId: claim.merchantId,
  payableId: claim.payableId,
  creditEpoch: claim.creditEpoch,
  includedTx: claim.includedTx,
  includedAt: claim.includedAt,
};
type FinalClaim = Pick<Claim, keyof typeof finalColumns>;

async function findFinal(tx: Tx, chain: Chain, at: ObserverRow): Promise<readonly FinalClaim[]> {
  const included = tx
    .select(finalColumns)
    .from(claim)
    .where(and(isIncludedBelow(chain, at), isCanonical(claim.chainId, claim.includedHash)))
    .orderBy(claim.claimKey)
    .limit(GROUP)
    .for("update", { of: claim, skipLocked: true });
  return readRows(tx, finalColumns, included);
}

const isUnmatchedBelow = (chain: Chain, at: ObserverRow) =>
  and(
    eq(chainTransfer.chainId, chain.row.chainId),
    fixed(eq(chainTransfer.canonical, true)),
    fixed(eq(chainTransfer.claimedKind, "unmatched")),
    fixed(eq(chainTransfer.bookedFinal, false)),
    lte(chainTransfer.blockNumber, at.finalizedNumber),
  );

async function postUnmatched(engine: Engine, chain: Chain, at: ObserverRow): Promise<boolean> {
  return engine.loopDb.tx(async (tx) => {
    if (!(await holdView(tx, chain, at))) return false;
    const logs = await tx
      .select()
      .from(chainTransfer)
      .where(isUnmatchedBelow(chain, at))
      .orderBy(chainTransfer.blockNumber, chainTransfer.logIndex)
      .limit(GROUP)
      .for("update", { skipLocked: true });
    if (logs.length === 0) return false;
    await resolvePending(
      tx,
      "post",
      logs.map((log) => templates.unmatchedEventKey({ chain: chain.row.slug, ...log })),
    );
    const places = sql`SELECT * FROM unnest(
      ${toBytesArray(logs.map(({ blockHash }) => blockHash))}, ${sql.param(logs.map(({ logIndex }) => logIndex))}::int[])`;
    await tx
      .update(chainTransfer)
      .set({ bookedFinal: true })
      .where(
        and(
          eq(chainTransfer.chainId, chain.row.chainId),
          sql`(${chainTransfer.blockHash}, ${chainTransfer.logIndex}) IN (${places})`,
        ),
      );
    return logs.length === GROUP;
  });
}

/** Money that was reserved for a claim can be given back only in an asset that has a name. */
const isReleasable = ({ row }: Chain) => sql`(${claim.kind} = 'x402' OR ${isListed(row, claim.token)})`;

const isSpentBelow = (chain: Chain, at: ObserverRow) =>
  and(
    eq(claim.chainId, chain.row.chainId),
    sql`${claim.state} IN ('failed-watch','review')`,
    isNotNull(claim.spentBlock),
    isReleasable(chain),
    lte(claim.spentBlock, at.finalizedNumber),
  );

/** The nonce was spent without paying us, in a block that is final now. */
async function endCancelled(engine: Engine, chain: Chain, at: ObserverRow): Promise<readonly Hash[]> {
  return engine.loopDb.tx(async (tx) => {
    const rows = await tx
      .select({ claimKey: claim.claimKey })
      .from(claim)
      .where(and(isSpentBelow(chain, at), isCanonical(claim.chainId, claim.spentHash)))
      .limit(GROUP);
    const ended = await moveClaims(engine, tx, {
      keys: rows.map(({ claimKey }) => claimKey),
      to: "cancelled",
      cause: "its nonce was spent, for good",
      fact: "settlement.cancelled",
    });
    await releaseUnpaid(tx, chain.row, ended);
    return ended.map(({ claimKey }) => claimKey);
  });
}

const isExpired = (chain: Chain, finalized: BlockRef) =>
  and(
    eq(claim.chainId, chain.row.chainId),
    sql`${claim.state} IN ('claimed','submitting','failed-watch','review')`,
    lte(claim.validBefore, BigInt(finalized.timestamp)),
    sql`${claim.spentBlock} IS NULL`,
    isReleasable(chain),
    sql`NOT ${isPaid}`,
  );

const EXPIRED = "The authorization expired unused. Nothing was charged and nothing ever will be.";

/** Only a final block later than `validBefore`, with the nonce unused, says that an authorization can never be charged. */
async function endExpired(
  engine: Engine,
  { chain, laneAddresses }: OpenChain,
  at: ObserverRow,
  finalized: BlockRef,
): Promise<readonly Hash[]> {
  if (at.finalizedNumber < finalized.number) return [];
  const due = await engine.loopDb.pool
    .select({ claimKey: claim.claimKey })
    .from(claim)
    .where(isExpired(chain, finalized))
    .limit(GROUP);
  if (due.length === 0) return [];
  const claims = await findClaims(
    engine.loopDb.pool,
    due.map(({ claimKey }) => claimKey),
  );
  // What has expired is refused before a payer's code is asked: it burns nobody's gas.
  const states = await chain.readAuthorizations(laneOf(laneAddresses), claims.map(readOf));
  const unused: Claim[] = [];
  for (const [i, row] of claims.entries()) {
    // Whether it is unused decides here, not whether it could be paid: a dispute about that waits.
    if (states[i]?.isDisputed) continue;
    if (states[i]?.used) await resolveUsed(engine, chain, row, at);
    else unused.push(row);
  }
  return engine.loopDb.tx(async (tx) => {
    const ended = await moveClaims(engine, tx, {
      keys: unused.map(({ claimKey }) => claimKey),
      to: "expired",
      cause: "validBefore passed, for good",
      set: { reason: "invalid_exact_evm_payload_authorization_valid_before", message: EXPIRED },
      fact: "settlement.expired",
    });
    await releaseUnpaid(tx, chain.row, ended);
    return ended.map(({ claimKey }) => claimKey);
  });
}

const ORPHAN_SECONDS = 30;
const isOrphan = (chain: Chain) =>
  and(
    eq(claim.chainId, chain.row.chainId),
    sql`(${claim.state} = 'submitting' OR ${claim.state} = 'failed-watch' AND ${claim.kind} <> 'x402' AND ${claim.spentBlock} IS NULL)`,
    sql`${claim.updatedAt} < now() - make_interval(secs => ${ORPHAN_SECONDS})`,
    sql`NOT EXISTS (SELECT 1 FROM slot_item WHERE slot_item.claim_key = ${claim.claimKey} AND slot_item.open)`,
    sql`NOT ${isPaid}`,
  );

/** Claims that wait for a stranger's transaction which has left the chain, or was never seen again: nothing of ours may
 *  still land for them, so they are queued like any other and looked at anew. So are our own payments that could not be
 *  sent: what kept them, such as money that was still on its way to the treasury, may be over. */
async function requeueOrphans(engine: Engine, chain: Chain): Promise<void> {
  const orphans = await engine.loopDb.pool
    .select({ claimKey: claim.claimKey })
    .from(claim)
    .where(isOrphan(chain))
    .limit(GROUP);
  if (orphans.length === 0) return;
  await engine.loopDb.tx((tx) =>
    moveClaims(engine, tx, {
      keys: orphans.map(({ claimKey }) => claimKey),
      to: "claimed",
      cause: "no transaction of it is left",
      where: sql`state IN ('submitting','failed-watch')`,
    }),
  );
}
