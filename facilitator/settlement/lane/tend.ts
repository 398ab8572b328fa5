import { asc, eq, inArray } from "drizzle-orm";
import { callOf } from "../claim/claim-call.ts";
import { claim } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { feesWithinCap, raised } from "./gas.ts";
import type { Lane } from "./lane.ts";
import type { Slot } from "./mined.ts";
import { attemptRow } from "./submit.ts";
import { attempt, slot, slotItem } from "./tables.ts";

type Attempt = typeof attempt.$inferSelect;

const RESEND_BLOCKS = 2;
/** Looks after a transaction of a lane that is not mined: sends the same bytes again, and replaces what is stuck at a
 *  higher fee. A lane that was just taken sends all of them at once, since whoever held it may have died between storing
 *  and sending. */
export async function tend(
  engine: Engine,
  lane: Lane,
  open: Slot,
  at: ObserverRow,
  justTaken: boolean,
): Promise<void> {
  const age = at.cursorNumber - open.sentAtBlock;
  if (!justTaken && age < RESEND_BLOCKS) return;
  const attempts = await engine.loopDb.pool
    .select()
    .from(attempt)
    .where(eq(attempt.slotId, open.id))
    .orderBy(asc(attempt.seq));
  const last = attempts.at(-1);
  if (!last) throw new Error("a slot has no attempt");
  const patience = engine.settings.patienceBlocks * 2 ** (attempts.length - 1);
  const isStuck = age >= patience && attempts.length <= engine.settings.maxReplacements;
  if (isStuck && lane.maySign && (await replace(engine, lane, open, last, at))) return;
  await lane.chain.send(last.raw);
}

/** The same calls at the same nonce, both fees raised; its bytes are committed before they are sent. False when the
 *  chain's cap leaves no room, or when it would not be signed as things are configured now: then the old bytes stay the
 *  newest. */
async function replace(
  engine: Engine,
  lane: Lane,
  open: Slot,
  last: Attempt,
  at: ObserverRow,
): Promise<boolean> {
  const { row } = lane.chain;
  // What it gave was not enough: what others give counts.
  const { baseFeePerGas, maxPriorityFeePerGas } = await lane.chain.fees();
  const fresh = feesWithinCap(row, baseFeePerGas, maxPriorityFeePerGas);
  const fees =
    fresh &&
    raised({ maxFeePerGas: last.maxFee, maxPriorityFeePerGas: last.tip }, fresh, row.maxFeePerGasCap);
  if (!fees) return false;
  const request = { nonce: open.nonce, calls: await callsOf(engine, open), gasLimit: last.gasLimit, ...fees };
  // A token left the list since, or batches are smaller now: what was signed may land, nothing new is signed for it.
  const problem = lane.signer.refusal(row, request);
  if (problem !== null) {
    engine.log.warn(
      { chain: row.slug, lane: lane.signer.address, nonce: open.nonce, problem },
      "a stuck transaction cannot be replaced: it is sent again as it is",
    );
    return false;
  }
  const signed = await lane.signer.sign(row, request);
  await engine.loopDb.tx(async (tx) => {
    await tx.insert(attempt).values(attemptRow(open.id, last.seq + 1, signed, last.gasLimit, fees));
    await tx.update(slot).set({ sentAtBlock: at.cursorNumber }).where(eq(slot.id, open.id));
  });
  const result = await lane.chain.send(signed.raw);
  engine.meter.count("replacements", { chain: row.slug });
  engine.log.warn(
    { chain: row.slug, lane: lane.signer.address, nonce: open.nonce, transaction: signed.hash, result },
    "a stuck transaction was replaced",
  );
  return true;
}

async function callsOf(engine: Engine, open: Slot) {
  const items = await engine.loopDb.pool
    .select()
    .from(slotItem)
    .where(eq(slotItem.slotId, open.id))
    .orderBy(asc(slotItem.idx));
  const keys = items.map(({ claimKey }) => claimKey);
  const claims = await engine.loopDb.pool.select().from(claim).where(inArray(claim.claimKey, keys));
  const byKey = new Map(claims.map((row) => [row.claimKey, row]));
  return items.map(({ claimKey }) => {
    const row = byKey.get(claimKey);
    if (!row) throw new Error("a slot names a claim that is gone");
    return callOf(row);
  });
}
