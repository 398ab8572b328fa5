import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { type Executor, toBytesArray } from "#store";
import type { Claim } from "../claim/claim.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import { claim } from "../claim/tables.ts";

/** What ended a wait: an outcome (with the claim's row, where this process wrote it), or nothing (false). */
export type Ended = ToldClaim | boolean;

/** Callers who wait for their claims. All of a process share one query per turn; what this process books itself is
 *  told at once. */
export interface Waiters {
  /** Ends when the claim has an outcome, or with nothing after `ms` or when the caller goes away. A `requestId` stands
   *  for a caller who may be granted success together with the credit. */
  wait(
    of: Pick<Claim, "claimKey" | "chainId">,
    ms: number,
    gone: AbortSignal,
    requestId?: string | null,
  ): Promise<Ended>;
  /** The requests that are granted success where these claims are credited now, one for each that has a caller for it.
   *  Until `hand` or `withdraw` tells how that went those callers stay, whatever happens to them meanwhile. */
  promise(claimKeys: readonly Hash[]): ReadonlyMap<Hash, string>;
  /** Nothing, or nothing known, came of these promises. */
  withdraw(claimKeys: Iterable<Hash>): void;
  /** Claims that have an outcome. */
  tell(claimKeys: readonly Hash[]): void;
  /** Claims as they were committed with their outcome. */
  hand(claims: readonly ToldClaim[]): void;
  /** For the next while, what is credited on this chain will be handed over: nearly all that is waited for. */
  expect(chainId: number): void;
  /** One turn of the shared query. */
  poll(db: Executor): Promise<void>;
  /** Answers everybody with what is known: the service is stopping. */
  close(): void;
}

/** Given to abort, which makes an exception with a stack for each call that has none. */
const DONE = "done";

/** How long `expect` holds, and how often those are asked about whose credit is expected: others may end a claim, too. */
const EXPECTED_MS = 1_000;
const ASK_EXPECTED_MS = 400;
/** Asked about in one turn; the others have theirs in the next ones. Where thousands wait, because a process is late, to ask
 *  about all of them ten times a second would make it later. */
const MOST_ASKED = 200;

interface Waiting {
  readonly chainId: number;
  readonly callers: Set<WaitingCaller>;
  askAt: number;
}

interface WaitingCaller {
  readonly requestId: string | null;
  readonly done: (ended: Ended) => void;
  isPromised: boolean;
  /** How its wait has ended since it was promised something. */
  ended: Ended | null;
}

export function waiters(clock: Clock): Waiters {
  const waiting = new Map<Hash, Waiting>();
  const expectedUntil = new Map<number, number>();
  const stopping = new AbortController();

  const callersFor = (claimKey: Hash) => [...(waiting.get(claimKey)?.callers ?? [])];
  const end = (claimKey: Hash, ended: Ended) => {
    for (const caller of callersFor(claimKey)) endFor(caller, ended);
  };
  const tell = (claimKeys: readonly Hash[]) => {
    for (const key of claimKeys) end(key, true);
  };
  const callersOf = (claimKey: Hash, chainId: number) => {
    const known = waiting.get(claimKey) ?? { chainId, callers: new Set(), askAt: 0 };
    waiting.set(claimKey, known);
    return known.callers;
  };
  const due = (): readonly Hash[] => {
    const now = clock.monotonicMs();
    const asked = [...waiting].filter(([, { askAt }]) => askAt <= now).slice(0, MOST_ASKED);
    for (const [key, one] of asked) {
      waiting.delete(key); // behind those who wait for their turn
      waiting.set(key, one);
      const isExpected = (expectedUntil.get(one.chainId) ?? 0) > now;
      one.askAt = isExpected ? now + ASK_EXPECTED_MS : 0;
    }
    return asked.map(([key]) => key);
  };

  return {
    tell,
    hand(claims) {
      for (const row of claims) for (const { done } of callersFor(row.claimKey)) done(row);
    },
    promise(claimKeys) {
      const promised = new Map<Hash, string>();
      for (const key of claimKeys) {
        const caller = callersFor(key).find(({ requestId }) => requestId !== null);
        if (!caller?.requestId) continue;
        caller.isPromised = true;
        promised.set(key, caller.requestId);
      }
      return promised;
    },
    withdraw(claimKeys) {
      for (const key of claimKeys)
        for (const caller of callersFor(key)) {
          caller.isPromised = false;
          if (caller.ended !== null) caller.done(caller.ended);
        }
    },
    expect(chainId) {
      expectedUntil.set(chainId, clock.monotonicMs() + EXPECTED_MS);
    },
    wait({ claimKey, chainId }, ms, gone, requestId = null) {
      const timer = new AbortController();
      return new Promise<Ended>((resolve) => {
        const done = (ended: Ended) => {
          const others = waiting.get(claimKey)?.callers;
          others?.delete(caller);
          if (others?.size === 0) waiting.delete(claimKey);
          gone.removeEventListener("abort", leave);
          timer.abort(DONE);
          resolve(ended);
        };
        const caller: WaitingCaller = { requestId, done, isPromised: false, ended: null };
        const leave = () => endFor(caller, false);
        if (gone.aborted || stopping.signal.aborted) return resolve(false);
        callersOf(claimKey, chainId).add(caller);
        gone.addEventListener("abort", leave, { once: true });
        void clock.sleep(ms, timer.signal).then(leave);
      });
    },
    async poll(db) {
      const keys = due();
      if (keys.length === 0) return;
      const rows = await db
        .select({ claimKey: claim.claimKey })
        .from(claim)
        .where(
          sql`${claim.claimKey} = ANY(${toBytesArray(keys)}) AND (${claim.creditState} <> 'none' OR ${claim.state} IN ('failed-watch','review','expired','cancelled'))`,
        );
      tell(rows.map((row) => row.claimKey));
    },
    close() {
      stopping.abort();
      for (const key of [...waiting.keys()]) end(key, false);
    },
  };
}

/** One who was promised success hears of nothing else until it is known whether the promise was kept: an answer that does
 *  not know of it would leave the grant with a caller who was told otherwise. */
function endFor(caller: WaitingCaller, ended: Ended): void {
  if (caller.isPromised) caller.ended ||= ended;
  else caller.done(ended);
}
