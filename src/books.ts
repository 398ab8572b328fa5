/** Whether the books balance, asked again and again. */
import type { Job } from "#api";
import type { Clock } from "#kernel/clock";
import { foldOldTransfers, type Imbalance, recentImbalance } from "#ledger";
import type { Database } from "#store";

const ASKED_EVERY_MS = 60_000;

/** The books' imbalance, at most a minute old: each minute's transfers are many. One that failed is asked for again. */
export function booksCheck({ clock, db }: { readonly clock: Clock; readonly db: Database }) {
  let last: { readonly atMs: number; readonly found: Promise<readonly Imbalance[]> } | null = null;
  return () => {
    const atMs = clock.monotonicMs();
    if (!last || atMs - last.atMs > ASKED_EVERY_MS) {
      const asked = { atMs, found: recentImbalance(db.pool) };
      asked.found.catch(() => {
        if (last === asked) last = null;
      });
      last = asked;
    }
    return last.found;
  };
}

/** Keeps that question as quick as it is. */
export function booksJobs(db: Database): readonly Job[] {
  return [
    {
      name: "fold-old-transfers",
      at: "*/5 * * * *",
      attempts: 3,
      run: ({ stopping }) => foldOldTransfers(db, stopping),
    },
  ];
}
