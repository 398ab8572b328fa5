import type { Job } from "#api";
import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";
import { openDatabase } from "#store";
import { openJobs } from "./jobs.ts";
import { type Hearer, relay } from "./relay.ts";

/** Facts on their way to those who hear them, and the jobs that follow. */
export interface Background {
  start(): void;
  /** Somebody waits until what is untold is told. */
  hurry(): void;
  stop(): Promise<void>;
}
interface Needs {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether somebody is about to pay; nobody where it is left out. */
  readonly isBusy?: () => boolean;
  /** Called when facts were told. */
  readonly told?: () => void;
}

const CONNECTIONS = 2;

/** Tells facts and runs jobs. Both work as the owner of the database, who alone may add to the job queue (security.md
 *  §7): the marks of what was told and the jobs that it called for commit together. */
export async function openBackground(
  { databaseUrl, clock, log, isBusy = () => false, told = () => {} }: Needs,
  { hearers, jobs }: { readonly hearers: readonly Hearer[]; readonly jobs: readonly Job[] },
): Promise<Background> {
  const queue = await openJobs({ databaseUrl, jobs, clock, log });
  const db = openDatabase({
    url: databaseUrl,
    log,
    name: "facts",
    maxConnections: CONNECTIONS,
    byIndex: true,
  });
  const facts = relay({ db, clock, log, isBusy, told }, [...hearers, queue.hear]);
  return {
    start() {
      facts.start();
      queue.start();
    },
    hurry: facts.hurry,
    async stop() {
      await Promise.all([facts.stop(), queue.stop()]);
      await db.close();
    },
  };
}

/** A process that only answers requests. */
export const noBackground: Background = { start() {}, hurry() {}, async stop() {} };
