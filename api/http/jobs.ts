import type { Clock } from "#kernel/clock";
import type { Database } from "#store";
import { pruneIdempotencyKeys } from "./idempotency.ts";
import type { Job } from "./job.ts";

const GROUP = 1_000;

/** Looks after what requests leave behind. */
export function requestJobs({ db, clock }: { readonly db: Database; readonly clock: Clock }): readonly Job[] {
  return [
    {
      name: "prune-idempotency-keys",
      at: "29 * * * *",
      attempts: 3,
      async run({ stopping }) {
        const now = clock.now();
        for (let pruned = GROUP; pruned === GROUP && !stopping.aborted; )
          pruned = await pruneIdempotencyKeys(db, { now, limit: GROUP });
      },
    },
  ];
}
