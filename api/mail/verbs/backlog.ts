import { sql } from "drizzle-orm";
import type { Executor } from "#store";

/** Mail that has not gone out: how much waits and since when it is due, and how much failed. */
export interface MailBacklog {
  readonly queued: number;
  readonly oldestSeconds: number;
  readonly failed: number;
}

export async function mailBacklog(db: Executor): Promise<MailBacklog> {
  const { rows } = await db.execute<{ queued: string; oldest: string | null; failed: string }>(sql`
    SELECT count(*) AS queued, extract(epoch FROM now() - min(due_at)) AS oldest,
      (SELECT count(*) FROM mail WHERE state = 'failed') AS failed
    FROM mail WHERE state = 'queued'`);
  const [found] = rows;
  return {
    queued: Number(found?.queued ?? 0),
    oldestSeconds: Math.max(0, Number(found?.oldest ?? 0)),
    failed: Number(found?.failed ?? 0),
  };
}
