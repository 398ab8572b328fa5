import type { Address, Hash } from "#kernel/bytes";
import { outageOf } from "#store";
import { bookUnmatched, creditAll, lookForArrivals } from "./credit.ts";
import { tellDelisted } from "./delisted.ts";
import { signSweeps } from "./deposit/sweep.ts";
import { watchList } from "./deposit/watch.ts";
import { dispatch, type LaneView } from "./dispatch.ts";
import type { Engine, OpenChain } from "./engine.ts";
import { finalize } from "./final.ts";
import { followedTokens, followNewTokens } from "./followed.ts";
import { isLowOnGas } from "./funding.ts";
import { isAnyFree, type Lane, lease, nextNonce } from "./lane.ts";
import { lookAfter } from "./look-after.ts";
import { type Loop, loop } from "./loop.ts";
import { follow } from "./observe.ts";
import { leaseObserver, lookAtObserver, type ObserverRow, tellFollowed } from "./observer.ts";
import { signOutgoing } from "./outgoing.ts";
import { type Queue, queueOf } from "./queue.ts";
import { reconcile } from "./reconcile.ts";
import { tendRemoved } from "./removed-keys.ts";
import { type Rhythm, rhythm } from "./rhythm.ts";
import type { Waiters } from "./waiters.ts";

/** The loops that move money on one chain: one watches and credits, one sends, one for each lane tends what it sent, one
 *  finishes.
 *  Any number of processes run them; leases decide who acts, and rows decide what is done. */
export function chainLoops(
  engine: Engine,
  open: OpenChain,
  { waiters, incoming }: { readonly waiters: Waiters; readonly incoming: () => number },
): readonly Loop[] {
  const { clock, log, meter, settings } = engine;
  const { slug } = open.chain.row;
  const blockMs = open.chain.row.blockTimeSeconds * 1000;
  const pace = Math.min(settings.pollMs, blockMs / 4);
  const shared: Shared = {
    at: null,
    seen: null,
    booked: 0,
    held: new Map(),
    rhythm: rhythm({ blockMs, paceMs: pace }),
    awaitedUntil: 0,
  };
  const sending = loop(
    { name: `send:${slug}`, clock, log, meter, everyMs: Math.min(50, pace) },
    sender(engine, open, shared, { incoming, blocksAreAwaited: () => watching.wake() }),
  );
  const tending = open.signers.map(({ address }) =>
    loop(
      { name: `tend:${slug}`, clock, log, meter, everyMs: pace },
      tender(engine, shared, address, incoming),
    ),
  );
  const wakeTenders = () => {
    for (const { wake } of tending) wake();
  };
  const watching = loop(
    { name: `watch:${slug}`, clock, log, meter, everyMs: pace },
    watcher(engine, open, waiters, shared, wakeTenders),
  );
  const finishing = loop(
    { name: `final:${slug}`, clock, log, meter, everyMs: pace },
    finisher(engine, open, waiters, shared, incoming),
  );
  return [watching, sending, ...tending, finishing];
}

const RECONCILE_MS = 600_000;
/** Orders that could not be signed are looked at again so often. */
const SIGN_MS = 500;
/** Sweeps are in no hurry: they are looked for once in so many usual pauses, a second as a rule. */
const SWEEP_PAUSES = 10;
/** Lanes of others are looked at this often, where a process that is gone is seen to be. */
const LANES_MS = 500;
/** Between blocks only a stranger's payment can become creditable, by a claim that came after it. */
const STRANGERS_MS = 250;
/** The longest pause between two looks at an empty queue. What this process claims wakes the sender at once; only
 *  claims of other processes wait for the look. */
const EMPTY_QUEUE_MS = 200;
const EMPTY_STEP_MS = 50;

/** Nobody waits for a payment to be final, or for a transaction to be tidied up after, as one waits for a payment to be
 *  made. */
const GIVES_WAY_MS = 1_000;

/** So long after something was sent or waited to be, blocks are looked for at the usual pace. */
const AWAITED_MS = 30_000;

interface Shared {
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

/** One turn: follow the chain, credit what it paid, book the rest. The lease is renewed at a third of
 *  its time; between, the cursor's compare-and-set tells when it was lost. */
function watcher(
  engine: Engine,
  open: OpenChain,
  waiters: Waiters,
  shared: Shared,
  wakeTenders: () => void,
): () => Promise<number | undefined> {
  const { chain } = open;
  const watched = watchList(engine, chain.row.chainId);
  const renewMs = (engine.settings.leaseSeconds * 1000) / 3;
  let mine: ObserverRow | null = null;
  let tokens: readonly Address[] = [];
  let newTokensAt: Hash | null = null;
  let renewAt = 0;
  let tellAt = 0;
  let bookedAt: string | null = null;
  let strangersAt = 0;
  let isTold = false;
  const pause = () => {
    const now = engine.clock.monotonicMs();
    return shared.rhythm.pause(now, isAwaited(open, shared, now));
  };
  /** Whether another process follows the chain: then how far it is, is all that there is to know. */
  const isOthers = async () => {
    const seen = await lookAtObserver(engine, chain.row.chainId);
    if (!seen || seen.isFree) return false;
    shared.at = seen.at;
    isTold = false;
    return true;
  };
  return async () => {
    if (!mine && (await isOthers())) return undefined;
    if (!mine || engine.clock.monotonicMs() >= renewAt) {
      mine = await leaseObserver(engine, chain);
      tokens = await followedTokens(engine.loopDb.pool, chain.row.chainId);
      renewAt = engine.clock.monotonicMs() + renewMs;
    }
    if (mine && !isTold) await tellDelisted(engine, chain.row);
    isTold = mine !== null;
    if (!mine) return undefined;
    const lookedAt = engine.clock.monotonicMs();
    const known = mine.cursorHash;
    let [broughtMoney, isAtHead] = [false, false];
    if (!mine.haltedReason) {
      const from: ObserverRow = mine;
      // Where it fails half-way the row is further than what is known here.
      mine = null;
      ({ at: mine, broughtMoney, isAtHead } = await follow(engine, chain, from, { watched, tokens }));
    }
    if (!mine) return undefined;
    if (mine.haltedReason) {
      shared.at = mine; // sending stops as well
      return undefined;
    }
    // At each block once: what a contract does not say now it may not say for long.
    if (newTokensAt !== mine.cursorHash) tokens = await followNewTokens(engine, chain, mine, tokens);
    newTokensAt = mine.cursorHash;
    if (mine.cursorHash !== known) shared.rhythm.saw(lookedAt);
    shared.seen = mine.cursorHash;
    if (isAtHead && engine.clock.monotonicMs() >= tellAt) {
      await tellFollowed(engine, mine);
      tellAt = engine.clock.monotonicMs() + renewMs;
    }
    const isNewBlock = bookedAt !== mine.cursorHash;
    waiters.expect(chain.row.chainId);
    if (!isNewBlock && engine.clock.monotonicMs() < strangersAt) return pause();
    // Without a look first: who paid in these blocks waits for it.
    if (broughtMoney) await creditAll(engine, chain, mine, waiters);
    const arrivals = await lookForArrivals(engine, chain, mine);
    if (arrivals.areCreditable) {
      await creditAll(engine, chain, mine, waiters);
      shared.booked += 1;
    }
    strangersAt = engine.clock.monotonicMs() + STRANGERS_MS;
    if (!isNewBlock) return pause();
    shared.at = mine;
    wakeTenders();
    if (arrivals.areUnmatched) await bookUnmatched(engine, chain, mine);
    shared.booked += 1;
    // Last: a turn that failed half-way is done again, also where no further block comes.
    bookedAt = mine.cursorHash;
    return pause();
  };
}

/** A process that holds all lanes knows what is under way; a local chain costs nothing to ask. */
function isAwaited({ chain, signers }: OpenChain, { held, awaitedUntil }: Shared, now: number): boolean {
  const hasAll = held.size > 0 && held.size === signers.length;
  return chain.row.isLocal || !hasAll || now < awaitedUntil;
}

/** One turn: post what is final, end what can never be paid, now and then compare books and chain, and look after what
 *  removed keys have sent. Apart from the watcher, so that the next block's credits do not wait for it; and payments that
 *  come in go first, for a while. */
function finisher(
  engine: Engine,
  open: OpenChain,
  waiters: Waiters,
  shared: Shared,
  incoming: () => number,
): () => Promise<void> {
  const isTime = givesWay(engine, incoming);
  let done = 0;
  let reconcileAt = 0;
  return async () => {
    const { at, booked } = shared;
    if (!at || at.haltedReason || at.leaseHolder !== engine.holder || booked === done) return;
    if (!isTime()) return;
    waiters.tell(await finalize(engine, open, at));
    done = booked;
    if (engine.clock.monotonicMs() >= reconcileAt) {
      reconcileAt = engine.clock.monotonicMs() + RECONCILE_MS;
      await reconcile(engine, open);
    }
    await tendRemoved(engine, open, at);
  };
}

/** Whether it is time for what is due: payments that come in go first, for a while. */
function givesWay({ clock }: Engine, incoming: () => number): () => boolean {
  let waitsSince: number | null = null;
  return () => {
    waitsSince ??= clock.monotonicMs();
    if (incoming() > 0 && clock.monotonicMs() < waitsSince + GIVES_WAY_MS) return false;
    waitsSince = null;
    return true;
  };
}

interface HeldLane {
  lane: Lane;
  minedNonce: number;
  /** Block at which they were last counted. */
  countedAt: Hash | null;
  /** Cursor at which its transactions were last looked after; null until they were for the first time. */
  tendedAt: string | null;
  /** Its gas runs out: it takes nothing new. */
  isLow: boolean;
}

/** One turn: keep the leases, send what waits. */
function sender(
  engine: Engine,
  open: OpenChain,
  shared: Shared,
  { incoming, blocksAreAwaited }: { readonly incoming: () => number; readonly blocksAreAwaited: () => void },
): () => Promise<number | undefined> {
  const { held } = shared;
  let renewAt = 0;
  let lanesAt = 0;
  let sweepAt = 0;
  let signAt = 0;
  let emptyMs = 0;
  const expectBlocks = () => {
    const now = engine.clock.monotonicMs();
    if (!isAwaited(open, shared, now)) blocksAreAwaited();
    shared.awaitedUntil = now + AWAITED_MS;
  };
  return async () => {
    if (engine.clock.monotonicMs() >= lanesAt) {
      if (await isFreed(engine, open, held)) renewAt = 0;
      lanesAt = engine.clock.monotonicMs() + LANES_MS;
    }
    if (engine.clock.monotonicMs() >= renewAt) {
      await renew(engine, open, held);
      renewAt = engine.clock.monotonicMs() + (engine.settings.leaseSeconds * 1000) / 3;
    }
    const { at } = shared;
    if (!at || at.haltedReason || held.size === 0) return undefined;
    if (engine.clock.monotonicMs() >= sweepAt) {
      await signSweeps(engine, open);
      sweepAt = engine.clock.monotonicMs() + SWEEP_PAUSES * engine.settings.pollMs;
    }
    // What was under way when a lane was taken comes first.
    const ready = [...held.values()].filter(
      ({ lane, tendedAt, isLow }) => lane.maySign && tendedAt !== null && !isLow,
    );
    const view = (lane: HeldLane) => viewOf(engine, lane, shared.seen);
    // Where payments come in, something will be sent: what the lanes go by is asked for at the same time.
    const [first, views] = await Promise.all([
      queueOf(engine, open.chain.row),
      incoming() > 0 ? Promise.all(ready.map(view)) : [],
    ]);
    let queue: Queue | null = first;
    if (queue.hasOrders && engine.clock.monotonicMs() >= signAt) {
      if ((await signOutgoing(engine, open)) > 0) queue = await queueOf(engine, open.chain.row);
      else signAt = engine.clock.monotonicMs() + SIGN_MS;
    }
    if (queue.length > 0 || incoming() > 0) expectBlocks();
    emptyMs = isEmpty(queue) ? Math.min(emptyMs + EMPTY_STEP_MS, EMPTY_QUEUE_MS) : 0;
    if (emptyMs > 0) return emptyMs;
    let sent = 0;
    for (const [i, lane] of ready.entries()) {
      // What another lane has just taken is not there any more.
      queue ??= await queueOf(engine, open.chain.row);
      const known = views[i] ?? (await view(lane));
      const untilBlock = shared.rhythm.untilBlock(engine.clock.monotonicMs());
      const isAlone = held.size === open.signers.length;
      const left = await dispatch(engine, known, { queue, untilBlock, incoming: incoming(), isAlone }, at);
      if (left > 0) {
        queue = null;
        expectBlocks();
      }
      sent += left;
    }
    return sent > 0 ? 0 : undefined;
  };
}

/** What a lane goes by. What a block has mined makes room in it at once, before its payments are credited. */
async function viewOf(engine: Engine, held: HeldLane, seen: Hash | null): Promise<LaneView> {
  const { lane, countedAt } = held;
  const [minedNonce, free] = await Promise.all([
    countedAt === seen ? held.minedNonce : lane.chain.nonce(lane.signer.address, "latest"),
    nextNonce(engine, lane),
  ]);
  held.minedNonce = minedNonce;
  held.countedAt = seen;
  return { lane, minedNonce, nextNonce: free };
}

const isEmpty = ({ length, sweeps, hasOrders }: Queue) => length === 0 && sweeps === 0 && !hasOrders;

/** One turn: look after what a lane has under way when a block has come. Apart from the sender, so that the next batch does
 *  not wait for the receipts of the last, and from the other lanes, so that none waits for one that fails; and payments that
 *  come in go first, for a while, save for a lane that was just taken: it sends nothing before. */
function tender(
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

/** Whether a lane that another process held is free before its lease lapses. */
async function isFreed(
  engine: Engine,
  { chain, signers }: OpenChain,
  held: Map<string, HeldLane>,
): Promise<boolean> {
  const others = engine.presence ? signers.filter(({ address }) => !held.has(address)) : [];
  return others.length > 0 && (await isAnyFree(engine, chain, others));
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
        countedAt: null,
        tendedAt: null,
        isLow: false,
      });
    }
    const now = held.get(signer.address);
    if (now) now.isLow = await isLowOnGas(engine, chain, signer).catch(ifUnread(now.isLow));
  }
}

/** A chain that cannot be read says nothing about a lane's gas, and must not cost the other lanes their leases. */
const ifUnread = (known: boolean) => (error: unknown) => {
  if (outageOf(error)) return known;
  throw error;
};
