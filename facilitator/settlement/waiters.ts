import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { type Executor, toBytesArray } from "#store";
import type { Claim } from "./claim.ts";
import type { ToldClaim } from "./claim-parts.ts";
import { claim } from "./tables.ts";

/** What ended a wait: an outcome (with the claim's row, where this process wrote it), or nothing (false). */
export type Ended = ToldClaim | boolean;

/** Callers who wait for their claims. All of a process share one query per turn; what this process books itself is
 *  told at once. */
export interface Waiters {
  /** Ends when the claim has an outcome, or with nothing after `ms` or when the caller goes away. */
  wait(of: Pick<Claim, "claimKey" | "chainId">, ms: number, gone: AbortSignal): Promise<Ended>;
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

interface Waiting {
  readonly chainId: number;
  readonly callers: Set<(ended: Ended) => void>;
  askAt: number;
}

export function waiters(clock: Clock): Waiters {
  const waiting = new Map<Hash, Waiting>();
  const expectedUntil = new Map<number, number>();
  const stopping = new AbortController();

  const end = (claimKey: Hash, ended: Ended) => {
    for (const done of waiting.get(claimKey)?.callers ?? []) done(ended);
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
    const asked = [...waiting].filter(([, { askAt }]) => askAt <= now);
    for (const [, one] of asked) {
      const isExpected = (expectedUntil.get(one.chainId) ?? 0) > now;
      one.askAt = isExpected ? now + ASK_EXPECTED_MS : 0;
    }
    return asked.map(([key]) => key);
  };

  return {
    tell,
    hand(claims) {
      for (const row of claims) end(row.claimKey, row);
    },
    expect(chainId) {
      expectedUntil.set(chainId, clock.monotonicMs() + EXPECTED_MS);
    },
    wait({ claimKey, chainId }, ms, gone) {
      const timer = new AbortController();
      return new Promise<Ended>((resolve) => {
        const done = (ended: Ended) => {
          const others = waiting.get(claimKey)?.callers;
          others?.delete(done);
          if (others?.size === 0) waiting.delete(claimKey);
          gone.removeEventListener("abort", leave);
          timer.abort(DONE);
          resolve(ended);
        };
        const leave = () => done(false);
        if (gone.aborted || stopping.signal.aborted) return resolve(false);
        callersOf(claimKey, chainId).add(done);
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
