import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { type Executor, toBytesArray } from "#store";
import { claim } from "./tables.ts";

/** Callers who wait for their claims. All of a process share one query per turn; what this process books itself is
 *  told at once. */
export interface Waiters {
  /** Resolves when the claim has an outcome (true), or after `ms` or when the caller goes away (false). */
  wait(claimKey: Hash, ms: number, gone: AbortSignal): Promise<boolean>;
  tell(claimKeys: readonly Hash[]): void;
  /** One turn of the shared query. */
  poll(db: Executor): Promise<void>;
  /** Answers everybody with what is known: the service is stopping. */
  close(): void;
}

/** Given to abort, which makes an exception with a stack for each call that has none. */
const DONE = "done";

export function waiters(clock: Clock): Waiters {
  const waiting = new Map<Hash, Set<(decided: boolean) => void>>();
  const stopping = new AbortController();

  const tell = (claimKeys: readonly Hash[], decided = true) => {
    for (const key of claimKeys) for (const resolve of waiting.get(key) ?? []) resolve(decided);
  };

  return {
    tell,
    wait(claimKey, ms, gone) {
      const timer = new AbortController();
      return new Promise<boolean>((resolve) => {
        const done = (decided: boolean) => {
          const others = waiting.get(claimKey);
          others?.delete(done);
          if (others?.size === 0) waiting.delete(claimKey);
          gone.removeEventListener("abort", leave);
          timer.abort(DONE);
          resolve(decided);
        };
        const leave = () => done(false);
        if (gone.aborted || stopping.signal.aborted) return resolve(false);
        waiting.set(claimKey, (waiting.get(claimKey) ?? new Set()).add(done));
        gone.addEventListener("abort", leave, { once: true });
        void clock.sleep(ms, timer.signal).then(leave);
      });
    },
    async poll(db) {
      const keys = [...waiting.keys()];
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
      tell([...waiting.keys()], false);
    },
  };
}
