import { and, asc, desc, eq, gt, inArray, isNotNull, lte, sql } from "drizzle-orm";
import { post, templates } from "#ledger";
import { fixed, type Tx, toBytesArray } from "#store";
import type { Receipt } from "../../chain/port.ts";
import { bookGas } from "../budget/burn.ts";
import { moveClaims } from "../claim/claim.ts";
import { readOf } from "../claim/claim-call.ts";
import { type SentClaim, sentColumns } from "../claim/claim-parts.ts";
import { isPaid } from "../claim/proof.ts";
import { fail, refuse } from "../claim/refuse.ts";
import { claim } from "../claim/tables.ts";
import { coinOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { isCanonical, isFollowed } from "../observer/canonical.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { readApart } from "../verify/chain-read.ts";
import { type Lane, quarantine } from "./lane.ts";
import { attempt, slot, slotItem } from "./tables.ts";

export type Slot = typeof slot.$inferSelect;

const slotsOf = ({ chain, signer }: Lane) =>
  and(eq(slot.chainId, chain.row.chainId), eq(slot.signer, signer.address), fixed(eq(slot.open, true)));

/** A lane's transactions that are looked after, lowest nonce first: all but those that were sorted out and wait for their
 *  block to be final. */
export async function slotsUnderWay(engine: Engine, lane: Lane, at: ObserverRow): Promise<readonly Slot[]> {
  const isWaiting = and(fixed(eq(slot.sorted, true)), gt(slot.minedBlock, at.finalizedNumber));
  const isStanding = sql`${isWaiting} AND ${isCanonical(slot.chainId, slot.minedHash)}`;
  const slots = await engine.loopDb.pool
    .select({ slot, isCanonical: isCanonical(slot.chainId, slot.minedHash).mapWith(Boolean) })
    .from(slot)
    .where(and(slotsOf(lane), sql`(${isStanding}) IS NOT TRUE`))
    .orderBy(asc(slot.nonce));
  // Its block may have left the chain while it was noted here: then it counts as never mined.
  return slots.map(({ slot, isCanonical }) =>
    isCanonical ? slot : { ...slot, minedBlock: null, sorted: false },
  );
}

/** Learns which of a lane's `slots` are mined, sorts out what they did not pay, and closes those whose nonce was
 *  consumed in a final block. Receipts serve gas accounting and this; credit never looks at them. Returns the lane,
 *  quarantined if a nonce of it went to a transaction that is not ours. */
export async function tidyMined(
  engine: Engine,
  lane: Lane,
  { minedNonce, slots }: { readonly minedNonce: number; readonly slots: readonly Slot[] },
  at: ObserverRow,
): Promise<Lane> {
  const mined = slots.filter(({ nonce, minedBlock }) => nonce < minedNonce || minedBlock !== null);
  if (mined.length === 0) return lane;
  const missing = await findReceipts(
    engine,
    lane,
    mined.filter(({ minedBlock }) => minedBlock === null),
  );
  await sortOut(engine, lane, at);
  await closeFinal(engine, lane, at);
  return closeForeign(engine, lane, at, missing);
}

/** Returns those of these slots, whose nonce is consumed, of which no endpoint has a transaction of ours. */
async function findReceipts(engine: Engine, lane: Lane, slots: readonly Slot[]): Promise<readonly Slot[]> {
  const missing: Slot[] = [];
  for (const open of slots) {
    const { id } = open;
    const receipt = await receiptOf(engine, lane, id);
    if (!receipt) missing.push(open);
    // A block that we have not followed may be on a branch that we never see: the receipt is asked for again.
    if (!receipt || !(await isFollowed(engine, lane.chain, receipt.blockHash))) continue;
    const { blockNumber, blockHash, txHash, gasUsed, effectiveGasPrice } = receipt;
    await engine.loopDb.pool
      .update(slot)
      .set({
        minedBlock: blockNumber,
        minedHash: blockHash,
        minedTx: txHash,
        gasWei: gasUsed * effectiveGasPrice,
        sorted: false,
      })
      .where(eq(slot.id, id));
  }
  return missing;
}

/** A nonce that a foreign transaction consumed in a final block: ours can never land, so its items are free. */
async function closeForeign(
  engine: Engine,
  lane: Lane,
  at: ObserverRow,
  missing: readonly Slot[],
): Promise<Lane> {
  if (missing.length === 0) return lane;
  const consumed = await lane.chain.nonce(lane.signer.address, at.finalizedNumber);
  const foreign = missing.filter(({ nonce }) => nonce < consumed);
  if (foreign.length === 0) return lane;
  const quarantined = await quarantine(engine, lane);
  const again = await unpaidItems(engine, foreign);
  await engine.loopDb.tx(async (tx) => {
    await closeSlots(tx, foreign);
    await queueAgain(engine, tx, again, "a foreign transaction took its nonce");
  });
  return quarantined;
}

/** Whichever of a nonce's transactions landed. */
async function receiptOf(engine: Engine, { chain }: Lane, id: string): Promise<Receipt | null> {
  const attempts = await engine.loopDb.pool
    .select({ txHash: attempt.txHash })
    .from(attempt)
    .where(eq(attempt.slotId, id))
    .orderBy(desc(attempt.seq));
  for (const { txHash } of attempts) {
    const receipt = await chain.receipt(txHash);
    if (receipt) return receipt;
  }
  return null;
}

/** Claims of these slots that no transfer in a canonical block has paid. */
async function unpaidItems(engine: Engine, slots: readonly Slot[]): Promise<readonly SentClaim[]> {
  if (slots.length === 0) return [];
  // Items first, claims by key then: a join planned for few items would go through all open claims for each.
  const items = await engine.loopDb.pool
    .select({ claimKey: slotItem.claimKey })
    .from(slotItem)
    .where(
      and(
        inArray(
          slotItem.slotId,
          slots.map(({ id }) => id),
        ),
        fixed(eq(slotItem.open, true)),
      ),
    );
  if (items.length === 0) return [];
  const keys = items.map(({ claimKey }) => claimKey);
  return engine.loopDb.pool
    .select(sentColumns)
    .from(claim)
    .where(
      sql`${claim.claimKey} = ANY(${toBytesArray(keys)}) AND ${claim.state} = 'submitting' AND NOT ${isPaid}`,
    )
    .orderBy(asc(claim.createdAt), asc(claim.claimKey));
}

/** Mined, and yet not paid: the chain is asked why. What would pass now is tried again when its slot has closed. */
async function sortOut(engine: Engine, lane: Lane, at: ObserverRow): Promise<void> {
  const mined = await engine.loopDb.pool
    .select()
    .from(slot)
    .where(
      and(
        slotsOf(lane),
        fixed(eq(slot.sorted, false)),
        isNotNull(slot.minedBlock),
        lte(slot.minedBlock, at.cursorNumber),
      ),
    );
  if (mined.length === 0) return;
  const unpaid = await unpaidItems(engine, mined);
  const states =
    unpaid.length === 0 ? [] : await readApart(lane.chain, lane.signer.address, unpaid.map(readOf));
  for (const [i, row] of unpaid.entries()) {
    const state = states[i];
    if (!state || state.isDisputed) continue;
    if (state.used || !state.transfer.ok) await refuse(engine, lane.chain, row, state, at);
    else if (row.attempts >= engine.settings.maxAttempts)
      await fail(
        engine,
        [row.claimKey],
        "invalid_exact_evm_transaction_failed",
        `It was mined ${row.attempts} times without effect. Sign a fresh authorization.`,
      );
  }
  await bookGas(
    engine,
    lane.chain.row.slug,
    mined.map(({ id }) => id),
  );
}

/** A nonce consumed in a final block can never land again: its items are free, its gas is booked. */
async function closeFinal(engine: Engine, lane: Lane, at: ObserverRow): Promise<void> {
  const { row } = lane.chain;
  const slots = await engine.loopDb.pool
    .select()
    .from(slot)
    .where(
      and(
        slotsOf(lane),
        fixed(eq(slot.sorted, true)),
        lte(slot.minedBlock, at.finalizedNumber),
        isCanonical(slot.chainId, slot.minedHash),
      ),
    )
    .orderBy(asc(slot.nonce))
    .limit(50);
  if (slots.length === 0) return;
  const again = await unpaidItems(engine, slots);
  await engine.loopDb.tx(async (tx) => {
    await closeSlots(tx, slots);
    await post(
      tx,
      slots.map(({ signer, nonce, gasWei, minedBlock }) =>
        templates.gasSpent({
          chain: row.slug,
          signer,
          nonce,
          asset: coinOf(row),
          wei: gasWei ?? 0n,
          blockNumber: minedBlock ?? 0,
        }),
      ),
    );
    await queueAgain(engine, tx, again, "mined without effect, tried again");
  });
}

async function closeSlots(tx: Tx, slots: readonly Slot[]): Promise<void> {
  const ids = slots.map(({ id }) => id);
  await tx.update(slotItem).set({ open: false }).where(inArray(slotItem.slotId, ids));
  await tx.update(slot).set({ open: false }).where(inArray(slot.id, ids));
}

async function queueAgain(
  engine: Engine,
  tx: Tx,
  claims: readonly SentClaim[],
  cause: string,
): Promise<void> {
  await moveClaims(engine, tx, {
    keys: claims.map(({ claimKey }) => claimKey),
    to: "claimed",
    cause,
    where: sql`state = 'submitting'`,
  });
}
