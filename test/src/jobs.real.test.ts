import pg from "pg";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Job } from "#api";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { openDatabase, outbox } from "#store";
import { openBackground } from "../../src/background.ts";
import { migrateJobs, openJobs } from "../../src/jobs.ts";
import { startProxy } from "../facilitator/store/proxy.ts";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { silentLog } from "../support/dev-chain.ts";

const newId = idMaker({ clock: systemClock, random: systemRandom });
const subject = "x402r_1";

// Each test its own: a job whose end a lost connection kept from being told stays in the queue.
let database: TestDatabase;
const databases: TestDatabase[] = [];
beforeEach(async () => {
  database = await freshDatabase();
  databases.push(database);
});
afterAll(() => Promise.all(databases.map((each) => each.drop())));

function factOf(type: string): outbox.Fact {
  return { id: newId("evt"), type, subject, merchantId: "mer_1", payload: { resourceId: subject } };
}
const tell = (...facts: outbox.Fact[]) => database.db.tx((tx) => outbox.append(tx, facts));

/** A job that can be waited for. */
function watched(over: Partial<Job> = {}) {
  const heard: (outbox.Fact | null)[] = [];
  const job: Job = {
    name: "listen",
    hears: ["thing.listed"],
    attempts: 3,
    async run({ fact }) {
      heard.push(fact);
    },
    ...over,
  };
  return { heard, job };
}

async function withBackground(jobs: readonly Job[], work: () => Promise<void>) {
  const background = await openBackground(
    { databaseUrl: database.url, clock: systemClock, log: silentLog },
    { hearers: [], jobs },
  );
  background.start();
  try {
    await work();
  } finally {
    await background.stop();
  }
}

describe("the queue's schema", () => {
  it("is made by one of several that start at once on an empty database, and all of them go on", async () => {
    await database.query("DROP SCHEMA graphile_worker CASCADE");
    const first = new pg.Client({ connectionString: database.url });
    await first.connect();
    onTestFinished(() => first.end());
    // held up until all of them have seen that there is none
    await first.query("BEGIN; CREATE SCHEMA graphile_worker");
    const starting = Promise.all(Array.from({ length: 3 }, () => migrateJobs(database.url, silentLog)));
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await database.query(waiting)).length, { timeout: 10_000 }).toBe(3);
    await first.query("ROLLBACK");
    await starting;
    expect(await database.query("SELECT 1 FROM graphile_worker.jobs")).toEqual([]);
  });
});

describe("the background", () => {
  it("runs a job for each fact that it hears of, with the fact, and no other", async () => {
    const { heard, job } = watched();
    const facts = [factOf("thing.listed"), factOf("thing.sold"), factOf("thing.listed")];
    await withBackground([job], async () => {
      await tell(...facts);
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(2);
    });
    const asTold = [facts[0], facts[2]].map((fact) => ({ ...fact, sequence: expect.any(Number) }));
    expect(heard).toEqual(expect.arrayContaining(asTold));
    const left = await database.query("SELECT 1 FROM outbox WHERE delivered_at IS NULL");
    expect(left).toEqual([]);
    expect(await database.query("SELECT 1 FROM graphile_worker.jobs")).toEqual([]);
  });

  it("goes on where the database was away when the timetable was read: nothing ends, and jobs are run", async () => {
    const proxy = await startProxy(database.url);
    onTestFinished(() => proxy.stop());
    const { heard, job } = watched({ at: "0 0 1 1 *" });
    const queue = await openJobs({
      ...{ databaseUrl: proxy.url, jobs: [job], clock: systemClock, log: silentLog },
    });
    onTestFinished(() => queue.stop());
    // A rejection that nobody handles would end the process, and ends this test run.
    proxy.cutAt("as known_crontabs", "unheard");
    queue.start();
    const fact = factOf("thing.listed");
    const owner = openDatabase({ url: database.url, log: silentLog, name: "test", maxConnections: 1 });
    onTestFinished(() => owner.close());
    await owner.tx((tx) => queue.hear(tx, [fact]));
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual([fact]);
  });

  it("queues a fact once, however often it is told", async () => {
    const { heard, job } = watched();
    const fact = factOf("thing.listed");
    // given two tellings before any worker runs
    const queue = await openJobs({
      databaseUrl: database.url,
      jobs: [job],
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => queue.stop());
    const owner = openDatabase({ url: database.url, log: silentLog, name: "test", maxConnections: 1 });
    for (let times = 0; times < 2; times += 1) await owner.tx((tx) => queue.hear(tx, [fact]));
    await owner.close();
    expect(await database.query("SELECT 1 FROM graphile_worker.jobs")).toHaveLength(1);
    // when the worker runs
    await withBackground([job], async () => {
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBeGreaterThan(0);
    });
    expect(heard).toEqual([fact]);
  });

  it("goes on when the database ends its connections", async () => {
    const { heard, job } = watched();
    await withBackground([job], async () => {
      await tell(factOf("thing.listed"));
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(1);
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
      await expect
        .poll(
          () =>
            tell(factOf("thing.listed")).then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(2);
    });
  });

  it("keeps what fails in the queue, without the text of its error", async () => {
    const secret = "Failed query: select secret";
    let runs = 0;
    const { job } = watched({
      async run() {
        runs += 1;
        throw new Error(secret);
      },
    });
    await withBackground([job], async () => {
      await tell(factOf("thing.listed"));
      await expect.poll(() => runs, { timeout: 10_000 }).toBe(1);
    });
    const jobs = await database.query<{ attempts: number; last_error: string }>(
      "SELECT attempts, last_error FROM graphile_worker.jobs",
    );
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.attempts).toBe(1);
    expect(jobs[0]?.last_error).not.toContain("secret");
  });

  it("stops within moments, and tells what runs", async () => {
    let began = false;
    let told = false;
    const { job } = watched({
      run: ({ stopping }) =>
        new Promise((_, reject) => {
          began = true;
          stopping.addEventListener("abort", () => {
            told = true;
            reject(new Error("stopped"));
          });
        }),
    });
    let stoppedAt = 0;
    await withBackground([job], async () => {
      await tell(factOf("thing.listed"));
      await expect.poll(() => began, { timeout: 10_000 }).toBe(true);
      stoppedAt = Date.now();
    });
    expect(told).toBe(true);
    expect(Date.now() - stoppedAt).toBeLessThan(3_000);
  });
});
