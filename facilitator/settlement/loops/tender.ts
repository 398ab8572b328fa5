import type { Address } from "#kernel/bytes";
import type { Engine } from "../engine.ts";
import { lookAfter } from "../lane/look-after.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { givesWay, type HeldLane, type Shared } from "./shared.ts";

/** One turn: look after what a lane has under way when a block has come. Apart from the sender, so that the next batch does
 *  not wait for the receipts of the last, and from the other lanes, so that none waits for one that fails; and payments that
 *  come in go first, for a while, save for a lane that was just taken: it sends nothing before. */
export function tender(
  engine: Engine,
  shared: Shared,
  address: Address,
  incoming: () => number,
): () => Promise<void> {
  const isTime = givesWay(engine, incoming);
  return async () => {
    const { at, held } = shared;
    const lane = held.get(address);
    if (!at || at.haltedReason || !lane || lane.tendedAt === at.cursorHash) return;
    if (lane.tendedAt !== null && !isTime()) return;
    await tendHeld(engine, lane, at);
  };
}

async function tendHeld(engine: Engine, held: HeldLane, at: ObserverRow): Promise<void> {
  const { lane } = held;
  const minedNonce = await lane.chain.nonce(lane.signer.address, "latest");
  held.minedNonce = minedNonce;
  const tended = await lookAfter(engine, lane, { minedNonce, justTaken: held.tendedAt === null }, at);
  if (!tended.maySign) held.lane = tended;
  held.tendedAt = at.cursorHash;
}
