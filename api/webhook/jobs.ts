import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#store";
import type { Job } from "../http/job.ts";

const DAY_MS = 24 * 3_600_000;
const KEPT_MS = { webhook_delivery: 30 * DAY_MS, event: 90 * DAY_MS } as const;
const GROUP = 1_000;

/** Forgets what is older than merchants were promised: deliveries after 30 days, events after 90. */
export function webhookJobs({
  db,
  now,
}: {
  readonly db: Database;
  readonly now: () => Date;
}): readonly Job[] {
  return [
    {
      name: "prune-events",
      at: "41 * * * *",
      attempts: 3,
      async run({ stopping }) {
        for (const table of ["webhook_delivery", "event"] as const)
          while (!stopping.aborted && (await prune(db, table, now())) === GROUP);
      },
    },
  ];
}

async function prune({ pool }: Database, table: keyof typeof KEPT_MS, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS[table]).toISOString();
  const name = sql.identifier(table);
  const { rowCount } = await pool.execute(sql`
    DELETE FROM ${name} WHERE (merchant_id, id) IN (
      SELECT merchant_id, id FROM ${name} WHERE created_at < ${before} AND ${isOver(table, before)}
      ORDER BY created_at LIMIT ${GROUP})`);
  return rowCount ?? 0;
}

/** What was asked for again is old, and still to be sent. */
function isOver(table: keyof typeof KEPT_MS, before: string): SQL {
  return table === "event" ? sql`true` : sql`(state <> 'pending' OR updated_at < ${before})`;
}
