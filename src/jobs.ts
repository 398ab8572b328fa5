import { sql } from "drizzle-orm";
import {
  Logger,
  parseCronItems,
  type Runner,
  runMigrations,
  run as runWorker,
  type TaskList,
} from "graphile-worker";
import type { Job } from "#api";
import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import { inTurn, type outbox, type Tx, WaitingPool } from "#store";

export interface JobsOptions {
  /** As the owner of the database: under another role the queue's worker starts, finds nothing and says nothing. */
  readonly databaseUrl: string;
  readonly jobs: readonly Job[];
  readonly clock: Clock;
  readonly log: Log;
}
export interface Jobs {
  /** Queues what these facts call for, in the owner's transaction that marks them as delivered. */
  hear(tx: Tx, facts: readonly outbox.Fact[]): Promise<void>;
  start(): void;
  /** Running jobs are told to stop; what they have not done is done later. */
  stop(): Promise<void>;
}

const CONCURRENCY = 4;
const CONNECTIONS = 5;
const RESTART_MS = 2_000;

/** Creates or updates the queue's schema, as the owner of the database. Of two that make it at once one would fail. */
export async function migrateJobs(databaseUrl: string, log: Log): Promise<void> {
  await inTurn(databaseUrl, () =>
    runMigrations({ connectionString: databaseUrl, logger: loggerOn(log), noHandleSignals: true }),
  );
}

/** The house's jobs on graphile-worker. Nothing runs before `start`; the queue is there once this resolves. */
export async function openJobs(options: JobsOptions): Promise<Jobs> {
  const { databaseUrl, jobs, clock, log } = options;
  await migrateJobs(databaseUrl, log);
  const stopping = new AbortController();
  // A lone statement of the queue's timetable that fails would end the process.
  const pool = new WaitingPool({
    url: databaseUrl,
    maxConnections: CONNECTIONS,
    stopping: stopping.signal,
  });
  let worker: Runner | undefined;
  let running = Promise.resolve();

  /** The worker gives up when the database goes away; the house does not. */
  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        worker = await startWorker(options, pool, stopping.signal);
        await worker.promise;
      } catch (error) {
        log.warn(errorFields(error), "the job worker ended; it is started again");
      }
      worker = undefined;
      await clock.sleep(RESTART_MS, stopping.signal);
    }
  }
  return {
    hear: (tx, facts) => enqueue(tx, jobs, facts),
    start() {
      running = work();
    },
    async stop() {
      stopping.abort();
      await worker?.stop().catch(() => {}); // it may have ended by itself
      await running;
      await pool.end();
    },
  };
}

async function startWorker(
  { jobs, log }: JobsOptions,
  pgPool: WaitingPool,
  stopping: AbortSignal,
): Promise<Runner> {
  const worker = await runWorker({
    pgPool,
    taskList: Object.fromEntries(
      jobs.map((job) => [job.name, taskOf(job, log, stopping)]),
    ) satisfies TaskList,
    parsedCronItems: parseCronItems(
      jobs.flatMap(({ name, at, attempts }) =>
        at === undefined
          ? []
          : [{ task: name, match: at, options: { backfillPeriod: 0, maxAttempts: attempts, jobKey: name } }],
      ),
    ),
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    logger: loggerOn(log),
  });
  if (stopping.aborted) await worker.stop();
  return worker;
}

function taskOf(job: Job, log: Log, stopping: AbortSignal) {
  return async (payload: unknown) => {
    try {
      await job.run({ fact: factIn(payload), stopping });
    } catch (error) {
      if (stopping.aborted) throw new Error("stopped");
      log.warn({ job: job.name, ...errorFields(error) }, "a job failed; it is tried again later");
      // The queue keeps the message in a row; that of a database error holds its statement.
      throw new Error(String(errorFields(error).code ?? errorFields(error).error));
    }
  };
}

function factIn(payload: unknown): outbox.Fact | null {
  return typeof payload === "object" && payload !== null && "fact" in payload
    ? (payload.fact as outbox.Fact)
    : null;
}

/** One statement for all; the key is made of the fact's id, so a fact that is told twice is queued once. */
async function enqueue(tx: Tx, jobs: readonly Job[], facts: readonly outbox.Fact[]): Promise<void> {
  const specs = facts.flatMap((fact) =>
    jobs
      .filter(({ hears = [] }) => hears.includes(fact.type))
      .map(({ name, attempts }) => ({ name, attempts, key: `${name} ${fact.id}`, payload: { fact } })),
  );
  if (specs.length === 0) return;
  await tx.execute(sql`SELECT count(*) FROM graphile_worker.add_jobs((
    SELECT array_agg((name, payload, NULL, NULL, attempts, key, NULL, NULL)::graphile_worker.job_spec)
    FROM jsonb_to_recordset(${JSON.stringify(specs)}::jsonb) AS spec(name text, payload json, attempts smallint, key text)))`);
}

/** Warnings and errors of the queue itself; what a job throws is said by the job. */
function loggerOn(log: Log): Logger {
  return new Logger(() => (level, message) => {
    const isOurs = message.startsWith("Failed task");
    if (level === "error" && !isOurs) log.error({}, `job queue: ${message.slice(0, 200)}`);
    if (level === "warning") log.warn({}, `job queue: ${message.slice(0, 200)}`);
  });
}
