/** What the loops of one chain know together, all of it only to spare work: the rows decide. */
import type { Hash } from "#kernel/bytes";
import type { Engine, OpenChain } from "../engine.ts";
import type { Lane } from "../lane/lane.ts";
import type { ObserverRow } from "../observer/observer.ts";
import type { Rhythm } from "./rhythm.ts";

/** Nobody waits for a payment to be final, or for a transaction to be tidied up after, as one waits for a payment to be
 *  made. */
const GIVES_WAY_MS = 1_000;

export interface Shared {
  /** How far the chain has been followed, by this process or another. */
  at: ObserverRow | null;
  /** The newest block that was recorded; what it pays may not be credited yet. */
  seen: Hash | null;
  /** Grows with what is booked, by a block or by a claim that came after it: what is final of it is to be looked for. */
  booked: number;
  /** Of the blocks, as this process sees them while it follows the chain. */
  readonly rhythm: Rhythm;
  /** Until when somebody waits for blocks, by the clock; as far as this process knows. */
  awaitedUntil: number;
  /** Lanes of this process. */
  readonly held: Map<string, HeldLane>;
}

export interface HeldLane {
  lane: Lane;
  minedNonce: number;
  /** Block at which they were last counted. */
  countedAt: Hash | null;
  /** Cursor at which its transactions were last looked after; null until they were for the first time. */
  tendedAt: string | null;
  /** Its gas runs out: it takes nothing new. */
  isLow: boolean;
}

/** This process holds every lane of the chain. */
export function holdsAll({ signers }: OpenChain, { held }: Shared): boolean {
  return held.size > 0 && held.size === signers.length;
}

/** A process that holds all lanes knows what is under way; a local chain costs nothing to ask. */
export function isAwaited(open: OpenChain, shared: Shared, now: number): boolean {
  return open.chain.row.isLocal || !holdsAll(open, shared) || now < shared.awaitedUntil;
}

/** Whether it is time for what is due: payments that come in go first, for a while. */
export function givesWay({ clock }: Engine, incoming: () => number): () => boolean {
  let waitsSince: number | null = null;
  return () => {
    waitsSince ??= clock.monotonicMs();
    if (incoming() > 0 && clock.monotonicMs() < waitsSince + GIVES_WAY_MS) return false;
    waitsSince = null;
    return true;
  };
}
