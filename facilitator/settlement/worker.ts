import { eq } from "drizzle-orm";
import { bookUnmatched, creditAll } from "./credit.ts";
import { signSweeps } from "./deposit/sweep.ts";
import { watchList } from "./deposit/watch.ts";
import { dispatch } from "./dispatch.ts";
import type { Engine, OpenChain } from "./engine.ts";
import { finalize } from "./final.ts";
import { type Lane, lease, nextNonce, quarantine } from "./lane.ts";
import { type Loop, loop } from "./loop.ts";
import { tidyMined } from "./mined.ts";
import { follow, leaseObserver, type ObserverRow } from "./observe.ts";
import { signOutgoing } from "./outgoing.ts";
import { reconcile } from "./reconcile.ts";
import { observer } from "./tables.ts";
import { tend } from "./tend.ts";
import type { Waiters } from "./waiters.ts";

/** The loops that move money on one chain: one watches and credits, one sends, one finishes. Any number of processes run them; leases
 *  decide who acts, and rows decide what is done. */
export function chainLoops(engine: Engine, open: OpenChain, waiters: Waiters): readonly Loop[] {
  const { clock, log, meter, settings } = engine;
  const { slug } = open.chain.row;
  const shared: Shared = { at: null };
  const pace = Math.min(settings.pollMs, (open.chain.row.blockTimeSeconds * 1000) / 4);
  const sending = loop(
    { name: `send:${slug}`, clock, log, meter, everyMs: Math.min(50, pace) },
    sender(engine, open, shared),
  );
  const watching = loop(
    { name: `watch:${slug}`, clock, log, meter, everyMs: pace },
    watcher(engine, open, waiters, shared, sending.wake),
  );
  const finishing = loop(
    { name: `final:${slug}`, clock, log, meter, everyMs: pace },
    finisher(engine, open, waiters, shared),
  );
  return [watching, sending, finishing];
}

const RECONCILE_MS = 600_000;
/** Sweeps are in no hurry: they are looked for this often. */
const SWEEP_MS = 1_000;

/** How far the chain has been followed, by this process or another. */
interface Shared {
  at: ObserverRow | null;
}

/** One turn: follow the chain, credit what it paid, book the rest. The lease is renewed at a third of
 *  its time; between, the cursor's compare-and-set tells when it was lost. */
function watcher(
  engine: Engine,
  open: OpenChain,
  waiters: Waiters,
  shared: Shared,
  wakeSender: () => void,
): () => Promise<void> {
  const { chain } = open;
  const watched = watchList(engine, chain.row.chainId);
  let mine: ObserverRow | null = null;
  let renewAt = 0;
  let hasFollowed = true;
  let bookedAt: string | null = null;
  return async () => {
    if (!mine || engine.clock.monotonicMs() >= renewAt) {
      mine = await leaseObserver(engine, chain, hasFollowed);
      renewAt = engine.clock.monotonicMs() + (engine.settings.leaseSeconds * 1000) / 3;
      hasFollowed = false;
    }
    if (!mine) {
      shared.at = await readObserver(engine, chain.row.chainId);
      return;
    }
    if (!mine.haltedReason) mine = await follow(engine, chain, mine, watched);
    if (!mine) return;
    if (mine.haltedReason) {
      shared.at = mine; // sending stops as well
      return;
    }
    hasFollowed = true;
    await creditAll(engine, chain, mine, waiters.tell);
    if (bookedAt === mine.cursorHash) return;
    shared.at = mine;
    wakeSender();
    await bookUnmatched(engine, chain, mine);
    // Last: a turn that failed half-way is done again, also where no further block comes.
    bookedAt = mine.cursorHash;
  };
}

/** One turn: post what is final, end what can never be paid, and now and then compare books and chain. Apart from the
 *  watcher, so that the next block's credits do not wait for it. */
function finisher(engine: Engine, open: OpenChain, waiters: Waiters, shared: Shared): () => Promise<void> {
  let doneAt: string | null = null;
  let reconcileAt = 0;
  return async () => {
    const { at } = shared;
    if (!at || at.haltedReason || at.leaseHolder !== engine.holder || at.cursorHash === doneAt) return;
    waiters.tell(await finalize(engine, open, at));
    doneAt = at.cursorHash;
    if (engine.clock.monotonicMs() < reconcileAt) return;
    reconcileAt = engine.clock.monotonicMs() + RECONCILE_MS;
    await reconcile(engine, open);
  };
}

async function readObserver(engine: Engine, chainId: number): Promise<ObserverRow | null> {
  const [row] = await engine.loopDb.pool.select().from(observer).where(eq(observer.chainId, chainId));
  return row ?? null;
}

interface HeldLane {
  lane: Lane;
  minedNonce: number;
  /** Cursor at which its transactions were last looked after. */
  tendedAt: string | null;
}

/** One turn: keep the leases, look after what is under way when a block has come, send what waits. */
function sender(engine: Engine, open: OpenChain, shared: Shared): () => Promise<void> {
  const held = new Map<string, HeldLane>();
  let renewAt = 0;
  let sweepAt = 0;
  return async () => {
    if (engine.clock.monotonicMs() >= renewAt) {
      await renew(engine, open, held);
      renewAt = engine.clock.monotonicMs() + (engine.settings.leaseSeconds * 1000) / 3;
    }
    const { at } = shared;
    if (!at || at.haltedReason) return;
    if (held.size > 0) await signOutgoing(engine, open);
    if (held.size > 0 && engine.clock.monotonicMs() >= sweepAt) {
      await signSweeps(engine, open);
      sweepAt = engine.clock.monotonicMs() + SWEEP_MS;
    }
    for (const lane of held.values()) {
      if (lane.tendedAt !== at.cursorHash) await lookAfter(engine, lane, at);
      if (lane.lane.maySign) await dispatch(engine, lane, at);
    }
  };
}

async function renew(
  engine: Engine,
  { chain, signers }: OpenChain,
  held: Map<string, HeldLane>,
): Promise<void> {
  for (const signer of signers) {
    const lane = await lease(engine, chain, signer);
    const known = held.get(signer.address);
    if (!lane) held.delete(signer.address);
    else if (known?.lane.fence === lane.fence) known.lane = lane;
    else {
      held.set(signer.address, {
        lane,
        minedNonce: await chain.nonce(signer.address, "latest"),
        tendedAt: null,
      });
    }
  }
}

async function lookAfter(engine: Engine, held: HeldLane, at: ObserverRow): Promise<void> {
  const { lane } = held;
  const mined = await lane.chain.nonce(lane.signer.address, "latest");
  const justTaken = held.tendedAt === null;
  held.minedNonce = mined;
  if (mined > (await nextNonce(engine, lane))) held.lane = await quarantine(engine, lane);
  held.lane = await tidyMined(engine, held.lane, mined, at);
  await tend(engine, held.lane, mined, at, justTaken);
  held.tendedAt = at.cursorHash;
}
