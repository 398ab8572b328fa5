import type { Clock } from "#kernel/clock";
import type { Database } from "#store";
import type { Job } from "../http/job.ts";
import { pruneSessions } from "./verbs/session.ts";

const GROUP = 1_000;

/** Looks after what sessions leave behind. */
export function dashboardJobs(desk: { readonly db: Database; readonly clock: Clock }): readonly Job[] {
  return [
    {
      name: "prune-dashboard-sessions",
      at: "41 * * * *",
      attempts: 3,
      async run({ stopping }) {
        for (let pruned = GROUP; pruned === GROUP && !stopping.aborted; )
          pruned = await pruneSessions(desk, GROUP);
      },
    },
  ];
}
