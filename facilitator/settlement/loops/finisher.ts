import type { Engine, OpenChain } from "../engine.ts";
import { tendRemoved } from "../lane/removed-keys.ts";
import { finalize } from "../observer/final.ts";
import type { Waiters } from "../settle/waiters.ts";
import { reconcile } from "../treasury/reconcile.ts";
import { givesWay, type Shared } from "./shared.ts";

const RECONCILE_MS = 600_000;

/** One turn: post what is final, end what can never be paid, now and then compare books and chain, and look after what
 *  removed keys have sent. Apart from the watcher, so that the next block's credits do not wait for it; and payments that
 *  come in go first, for a while. */
export function finisher(
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
