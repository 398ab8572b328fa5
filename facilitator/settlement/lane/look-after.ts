import type { Engine } from "../engine.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { type Lane, nextNonce, quarantine } from "./lane.ts";
import { slotsUnderWay, tidyMined } from "./mined.ts";
import { tend } from "./tend.ts";

/** Looks after what a lane has under way: closes what is final, and sends again or replaces what is not mined.
 *  `minedNonce`: transactions of the key that the chain has mined. Returns the lane, quarantined if somebody else has used
 *  its key. */
export async function lookAfter(
  engine: Engine,
  lane: Lane,
  { minedNonce, justTaken }: { readonly minedNonce: number; readonly justTaken: boolean },
  at: ObserverRow,
): Promise<Lane> {
  const isForeign = minedNonce > (await nextNonce(engine, lane));
  const known = isForeign ? await quarantine(engine, lane) : lane;
  const slots = await slotsUnderWay(engine, known, at);
  const tidied = await tidyMined(engine, known, { minedNonce, slots }, at);
  const unmined = slots.filter(({ nonce, minedBlock }) => nonce >= minedNonce && minedBlock === null);
  for (const slot of unmined) await tend(engine, tidied, slot, at, justTaken);
  return tidied;
}
