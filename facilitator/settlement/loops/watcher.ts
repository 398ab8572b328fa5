import type { Address, Hash } from "#kernel/bytes";
import { watchList } from "../deposit/watch.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { bookUnmatched, creditAll, lookForArrivals } from "../observer/credit.ts";
import { tellDelisted } from "../observer/delisted.ts";
import { followedTokens, followNewTokens } from "../observer/followed.ts";
import { follow } from "../observer/observe.ts";
import { leaseObserver, lookAtObserver, type ObserverRow, tellFollowed } from "../observer/observer.ts";
import type { Waiters } from "../settle/waiters.ts";
import { isAwaited, type Shared } from "./shared.ts";

/** Between blocks only a stranger's payment can become creditable, by a claim that came after it. */
const STRANGERS_MS = 250;

/** One turn: follow the chain, credit what it paid, book the rest. The lease is renewed at a third of
 *  its time; between, the cursor's compare-and-set tells when it was lost. */
export function watcher(
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
