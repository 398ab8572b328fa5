import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DbOptions, outageOf, sqlState, type Tx, withTx } from "#store";
import { atPort } from "../../support/database-at.ts";
import { gate } from "../../support/gate.ts";
import { until } from "../../support/house.ts";
import { database, notes, open, outcome, withNotes, write } from "./notes.ts";
import { startProxy } from "./proxy.ts";

withNotes();

const pidOf = async (tx: Tx) =>
  (await tx.execute<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)).rows[0]?.pid;
const kill = (pid: number | undefined) => database.query("SELECT pg_terminate_backend($1)", [pid]);

describe("a pool for statements that need few rows", () => {
  it("finds them by an index where there is one, however small the table is", async () => {
    const plan = async (over: Partial<DbOptions>) => {
      const { rows } = await open(over).pool.execute(sql`EXPLAIN SELECT * FROM note WHERE text = 'one'`);
      return rows.map((row) => Object.values(row)[0]).join();
    };
    await database.query("INSERT INTO note VALUES ('one')");
    await database.query("VACUUM ANALYZE note");
    expect(await plan({})).toContain("Seq Scan");
    expect(await plan({ byIndex: true })).toMatch(/Index (?:Only )?Scan/);
  });
});

describe("a pool on a database with settings of its own", () => {
  it("reads and writes time as everywhere", async () => {
    const set = (setting: string) =>
      database.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${setting}', current_database()); END $$`,
      );
    onTestFinished(async () => {
      await set("RESET datestyle");
      await set("RESET timezone");
    });
    await set("SET datestyle = German");
    await set('SET timezone = "Asia/Tokyo"');
    const { rows } = await open().pool.execute(
      sql`SELECT '2026-03-04T23:05:06Z'::timestamptz::text AS at, '2026-03-04T23:05:06Z'::timestamptz::date::text AS day`,
    );
    expect(rows).toEqual([{ at: "2026-03-04 23:05:06+00", day: "2026-03-04" }]);
  });
});

describe("a process that was busy for longer than a connection may take", () => {
  const beBusy = (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };

  it("does not take that for an outage: the connection came meanwhile", async () => {
    const db = open();
    const asked = [db.pool.execute(sql`SELECT 1`), db.tx((tx) => write(tx, "kept"))];
    await Promise.resolve();
    beBusy(2_000);
    await Promise.all(asked);
    expect(await notes()).toEqual(["kept"]);
  });

  it("nor when it comes to its sockets only now and then, for longer than two connections may take", async () => {
    const db = open();
    const asked = Promise.all([db.pool.execute(sql`SELECT 1`), db.tx((tx) => write(tx, "kept"))]);
    for (let turn = 0; turn < 7; turn += 1) {
      beBusy(800);
      await nextTurn();
    }
    await asked;
    expect(await notes()).toEqual(["kept"]);
  });
});

describe("tx", () => {
  it("commits what its work did, and hands on what it returned", async () => {
    const result = await open().tx(async (tx) => {
      await write(tx, "kept");
      return 42;
    });
    expect([result, await notes()]).toEqual([42, ["kept"]]);
  });

  it("rolls back when its work throws, and throws the same error", async () => {
    const reason = new Error("changed my mind");
    const db = open();
    const work = db.tx(async (tx) => {
      await write(tx, "gone");
      throw reason;
    });
    await expect(work).rejects.toBe(reason);
    expect(await notes()).toEqual([]);
    expect(db.usage()).toEqual({ total: 1, idle: 1, waiting: 0 });
  });

  it("does not pass for committed when a failed statement was swallowed in it", async () => {
    const work = open().tx(async (tx) => {
      await write(tx, "twice");
      await write(tx, "twice").catch(() => undefined);
      return "done";
    });
    await expect(work).rejects.toThrow("nothing was committed");
    expect(await notes()).toEqual([]);
  });

  it("hides nothing of a refusal: the constraint's SQLSTATE comes through, and it is no outage", async () => {
    const error: unknown = await open()
      .tx(async (tx) => {
        await write(tx, "twice");
        await write(tx, "twice");
      })
      .catch((thrown) => thrown);
    expect([sqlState(error), outageOf(error)]).toEqual(["23505", null]);
  });
});

describe("withTx", () => {
  it("joins a transaction that is under way: both parts go together", async () => {
    const work = open().tx(async (outer) => {
      await write(outer, "outer");
      await withTx(outer, (inner) => write(inner, "inner"));
      throw new Error("the outer one fails");
    });
    await expect(work).rejects.toThrow("the outer one fails");
    expect(await notes()).toEqual([]);
  });

  it("opens one on a database, committed when it returns", async () => {
    await withTx(open(), (tx) => write(tx, "alone"));
    expect(await notes()).toEqual(["alone"]);
  });
});

describe("a connection of the service", () => {
  it("acts as farebox_app, with limits on statements, locks and idling", async () => {
    const { rows } = await open({ name: "limits" }).pool.execute(sql`
      SELECT current_user, current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('application_name') AS name`);
    expect(rows).toEqual([
      { current_user: "farebox_app", statement: "5s", lock: "2s", idle: "10s", name: "farebox-limits" },
    ]);
  });
});

describe("a connection to a server that takes no writes any more, as one that became another's standby", () => {
  it("is an outage, and is given up: the next one may lead to the server that does", async () => {
    const db = open({ maxConnections: 1 });
    await db.pool.execute(sql`SET default_transaction_read_only = on`);
    const refused: unknown = await db.tx((tx) => write(tx, "refused")).catch((error) => error);
    expect([sqlState(refused), outageOf(refused)?.code]).toEqual(["25006", "database_unavailable"]);
    await db.tx((tx) => write(tx, "kept"));
    expect(await notes()).toEqual(["kept"]);
  });

  it("by a lone statement as well", async () => {
    const db = open({ maxConnections: 1 });
    await db.pool.execute(sql`SET default_transaction_read_only = on`);
    await expect(db.write(sql`INSERT INTO note VALUES ('refused')`)).rejects.toSatisfy(
      (error) => sqlState(error) === "25006",
    );
    await db.write(sql`INSERT INTO note VALUES ('kept')`);
    expect(await notes()).toEqual(["kept"]);
  });
});

describe("two transactions that wait for each other", () => {
  it("one goes on, the other is told an outage and may come again; its work is not run twice", async () => {
    const db = open();
    await db.tx((tx) => write(tx, "a"));
    await db.tx((tx) => write(tx, "b"));
    let runs = 0;
    const both = [0, 1].map(() => gate());
    const touch = (tx: Tx, text: string) => tx.execute(sql`UPDATE note SET text = text WHERE text = ${text}`);
    const crossing = (own: string, others: string, n: number) =>
      outcome(
        db.tx(async (tx) => {
          runs += 1;
          await touch(tx, own);
          both[n]?.open();
          await Promise.all(both.map(({ passed }) => passed));
          await touch(tx, others);
        }),
      );
    const ends = await Promise.all([crossing("a", "b", 0), crossing("b", "a", 1)]);
    expect(ends.sort()).toEqual(["committed", "database_unavailable"]);
    expect(runs).toBe(2);
  });
});

describe("a backend that dies", () => {
  it("inside a transaction rejects it as an outage, leaves nothing behind, and the pool goes on", async () => {
    const db = open({ maxConnections: 1 });
    const work = db.tx(async (tx) => {
      await write(tx, "lost");
      await kill(await pidOf(tx));
      await write(tx, "after");
    });
    expect(await outcome(work)).toBe("database_unavailable");
    await db.tx((tx) => write(tx, "next"));
    expect(await notes()).toEqual(["next"]);
  });

  it("while the transaction waits for something else rejects it at its next statement", async () => {
    const db = open({ maxConnections: 1 });
    const work = db.tx(async (tx) => {
      await kill(await pidOf(tx));
      await until(async () => !(await isRunning("store")), "the backend is gone");
      await sleep(20); // the pool's turn to hear of it
      await write(tx, "after");
    });
    expect(await outcome(work)).toBe("database_unavailable");
    expect(await outcome(db.tx((tx) => write(tx, "next")))).toBe("committed");
  });

  it("since this process was held up inside a transaction: an outage as well, at the statement that finds out", async () => {
    const db = open({ maxConnections: 1 });
    const work = db.tx(async (tx) => {
      await tx.execute(sql`SET LOCAL idle_in_transaction_session_timeout = 20`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200); // nothing of this process runs
      await write(tx, "after");
    });
    expect(await outcome(work)).toBe("database_unavailable");
    expect(await outcome(db.tx((tx) => write(tx, "next")))).toBe("committed");
  });

  it("in the middle of a statement rejects it, and many at once leave a pool that works", async () => {
    const db = open({ maxConnections: 5, name: "many" });
    const work = Array.from({ length: 5 }, () => outcome(db.tx((tx) => tx.execute(sql`SELECT pg_sleep(4)`))));
    await until(async () => (await backends("many", "pg_sleep")) === 5, "five statements run");
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'farebox-many'",
    );
    expect(await Promise.all(work)).toEqual(Array(5).fill("database_unavailable"));
    const again = Array.from({ length: 5 }, (_, n) => outcome(db.tx((tx) => write(tx, `again-${n}`))));
    expect(await Promise.all(again)).toEqual(Array(5).fill("committed"));
  });

  it("while idle in the pool is replaced without anybody noticing", async () => {
    const db = open({ name: "idle" });
    await db.tx((tx) => write(tx, "first"));
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'farebox-idle'",
    );
    await until(async () => db.usage().total === 0, "the pool lets go of the dead connection");
    expect(await outcome(db.tx((tx) => write(tx, "second")))).toBe("committed");
  });
});

const backends = async (name: string, query: string) =>
  (
    await database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $1 AND query LIKE $2 AND state = 'active'",
      [`farebox-${name}`, `%${query}%`],
    )
  )[0]?.count;
const isRunning = async (name: string) =>
  (await database.query("SELECT 1 FROM pg_stat_activity WHERE application_name = $1", [`farebox-${name}`]))
    .length > 0;

describe("a COMMIT whose answer never came", () => {
  it.each([
    ["unheard", []],
    ["unanswered", ["perhaps"]],
  ] as const)(
    "is commit_unknown when the wire is cut and it was %s: what holds is in the rows",
    async (when, left) => {
      const proxy = await startProxy(database.url);
      onTestFinished(() => proxy.stop());
      const db = open({ url: proxy.url, maxConnections: 1 });
      proxy.cutAt("COMMIT", when);
      expect(await outcome(db.tx((tx) => write(tx, "perhaps")))).toBe("commit_unknown");
      await until(async () => (await notes()).length === left.length, "the server has decided");
      expect(await notes()).toEqual(left);
      expect(await outcome(db.tx((tx) => write(tx, "next")))).toBe("committed");
    },
  );

  it("is commit_unknown when the backend is killed in it", async () => {
    await database.query(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NULL; END $$`);
    await database.query(
      "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON note DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dawdle()",
    );
    onTestFinished(async () => void (await database.query("DROP FUNCTION dawdle CASCADE")));
    const db = open({ name: "slow" });
    const work = outcome(db.tx((tx) => write(tx, "slow")));
    await until(async () => (await backends("slow", "COMMIT")) === 1, "the commit is under way");
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'farebox-slow'",
    );
    expect(await work).toBe("commit_unknown");
    expect(await notes()).toEqual([]);
  });

  it("is a plain no when the server refuses: a deferred constraint", async () => {
    await database.query("ALTER TABLE note ADD CONSTRAINT once UNIQUE (text) DEFERRABLE INITIALLY DEFERRED");
    await database.query("ALTER TABLE note DROP CONSTRAINT note_pkey");
    onTestFinished(async () => {
      await database.query("ALTER TABLE note ADD PRIMARY KEY (text)");
      await database.query("ALTER TABLE note DROP CONSTRAINT once");
    });
    const error: unknown = await open()
      .tx(async (tx) => {
        await write(tx, "twice");
        await write(tx, "twice");
      })
      .catch((thrown) => thrown);
    expect([sqlState(error), outageOf(error)]).toEqual(["23505", null]);
    expect(await notes()).toEqual([]);
  });
});

describe("a pool with room for more connections", () => {
  it("opens few for a burst of short statements, also after it has lost them", async () => {
    const db = open({ maxConnections: 10 });
    const burst = () => Promise.all(Array.from({ length: 100 }, () => db.pool.execute(sql`SELECT 1`)));
    await burst();
    expect(db.usage().total).toBeLessThan(5);
    await until(async () => {
      // Again and again: one may have been on its way.
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'farebox-store'",
      );
      return db.usage().total === 0;
    }, "all are lost");
    await burst();
    expect(db.usage().total).toBeLessThan(5);
  });

  it("opens one after the other while all are held, as many as it may", async () => {
    const db = open({ maxConnections: 4 });
    const { passed, open: finish } = gate();
    onTestFinished(finish);
    const holders = [1, 2, 3, 4].map(() => db.tx(() => passed));
    await until(async () => db.usage().total === 4, "all four are held");
    expect(await outcome(db.tx(async () => 1))).toBe("database_unavailable");
    expect(db.usage().total).toBe(4);
    finish();
    await Promise.all(holders);
    expect(db.usage()).toEqual({ total: 4, idle: 4, waiting: 0 });
  });
});

describe("a pool with nothing left to give", () => {
  it("says database_unavailable within two seconds, and serves again when something comes back", async () => {
    const db = open({ maxConnections: 2 });
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    onTestFinished(() => finish()); // or a pool that failed here is closed only when the test times out
    const holders = [1, 2].map(() => db.tx(() => held));
    await until(async () => db.usage().total === 2, "both connections are held");
    const began = performance.now();
    const asked = [db.tx(async () => 1), db.pool.execute(sql`SELECT 1`)].map(outcome);
    expect(await Promise.all(asked)).toEqual(["database_unavailable", "database_unavailable"]);
    expect(performance.now() - began).toBeLessThan(2_000);
    finish();
    await Promise.all(holders);
    expect(await db.tx(async () => "served")).toBe("served");
    expect(db.usage()).toEqual({ total: 2, idle: 2, waiting: 0 });
  });

  it("says the same at once when no server is there", async () => {
    const db = open({ url: atPort(database.url, 1) });
    const began = performance.now();
    expect(await outcome(db.tx(async () => 1))).toBe("database_unavailable");
    expect(await outcome(db.pool.execute(sql`SELECT 1`))).toBe("database_unavailable");
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe("a server that falls silent", () => {
  it("is given up within ten seconds, in a statement and in COMMIT, and the pool goes on", async () => {
    const [one, two] = [await startProxy(database.url), await startProxy(database.url)];
    onTestFinished(async () => void (await Promise.all([one.stop(), two.stop()])));
    const inStatement = open({ url: one.url, maxConnections: 1 });
    const inCommit = open({ url: two.url, maxConnections: 1 });
    one.silenceAt("first");
    two.silenceAt("COMMIT");
    const began = performance.now();
    const work = [inStatement.tx((tx) => write(tx, "first")), inCommit.tx((tx) => write(tx, "second"))];
    expect(await Promise.all(work.map(outcome))).toEqual(["database_unavailable", "commit_unknown"]);
    expect(performance.now() - began).toBeLessThan(10_000);
    for (const db of [inStatement, inCommit])
      expect(await outcome(db.tx((tx) => tx.execute(sql`SELECT 1`)))).toBe("committed");
  });
});
