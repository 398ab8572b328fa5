import type { Hash } from "#kernel/bytes";
import { signSweeps } from "../deposit/sweep.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { dispatch, type LaneView } from "../lane/dispatch.ts";
import { nextNonce } from "../lane/lane.ts";
import { type Queue, queueOf } from "../lane/queue.ts";
import { signOutgoing } from "../treasury/outgoing.ts";
import { isFreed, renewLanes } from "./held-lanes.ts";
import { type HeldLane, holdsAll, isAwaited, type Shared } from "./shared.ts";

/** Orders that could not be signed are looked at again so often. */
const SIGN_MS = 500;
/** Sweeps are in no hurry: they are looked for once in so many usual pauses, a second as a rule. */
const SWEEP_PAUSES = 10;
/** Lanes of others are looked at this often, where a process that is gone is seen to be. */
const LANES_MS = 500;
/** The longest pause between two looks at an empty queue. What this process claims wakes the sender at once; only
 *  claims of other processes wait for the look. */
const EMPTY_QUEUE_MS = 200;
const EMPTY_STEP_MS = 50;
/** So long after something was sent or waited to be, blocks are looked for at the usual pace. */
const AWAITED_MS = 30_000;

/** One turn: keep the leases, send what waits. */
export function sender(
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
      await renewLanes(engine, open, held);
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
      const canSend = ready.length > 0;
      if ((await signOutgoing(engine, open, { canSend })) > 0) queue = await queueOf(engine, open.chain.row);
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
      const isAlone = holdsAll(open, shared);
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
