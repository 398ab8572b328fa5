import { beforeEach, describe, expect, it } from "vitest";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { outbox } from "#store";
import { sharedDatabase } from "../../support/db.ts";
import { gate } from "../../support/gate.ts";

const newId = idMaker({ clock: systemClock, random: systemRandom });
const database = sharedDatabase();
beforeEach(async () => {
  await database.query("DELETE FROM outbox");
});

/** Their ids fall in the order in which they are made: what is told by id is told the wrong way round. */
function facts(count: number): outbox.Fact[] {
  const ids = Array.from({ length: count }, () => newId("evt")).sort();
  return ids.reverse().map((id, n) => ({
    id,
    type: "settlement.credited",
    subject: `stl_${n}`,
    merchantId: "mer_one",
    payload: { amount: "10000", n },
  }));
}
const append = (all: readonly outbox.Fact[]) => database.db.tx((tx) => outbox.append(tx, all));
const undelivered = async () =>
  (
    await database.query<{ id: string }>("SELECT id FROM outbox WHERE delivered_at IS NULL ORDER BY sequence")
  ).map(({ id }) => id);
const idsOf = (all: readonly outbox.Fact[]) => all.map(({ id }) => id);

/** The pauses after failures are over. Well over: the column rounds to milliseconds, so that `now()` may lie ahead in it. */
const isLater = () =>
  database.query("UPDATE outbox SET retry_at = now() - interval '1 minute' WHERE retry_at IS NOT NULL");

describe("append", () => {
  it("writes facts whole, in the transaction that made them true", async () => {
    const [fact] = facts(1);
    await append(fact ? [fact] : []);
    const heard: outbox.Fact[] = [];
    await outbox.deliver(database.db, 10, async (_, all) => void heard.push(...all));
    expect(heard).toEqual([{ ...fact, sequence: expect.any(Number) }]);
  });

  it("leaves nothing when that transaction rolls back", async () => {
    const work = database.db.tx(async (tx) => {
      await outbox.append(tx, facts(3));
      throw new Error("it did not become true");
    });
    await expect(work).rejects.toThrow("it did not become true");
    expect(await undelivered()).toEqual([]);
  });

  it("writes nothing for no facts", async () => {
    await append([]);
    expect(await undelivered()).toEqual([]);
  });
});

describe("deliver", () => {
  it("hands facts over in the order in which they were written, as many as asked for, until none is left", async () => {
    const all = facts(5);
    await append(all.slice(0, 2));
    await append(all.slice(2));
    const heard: string[][] = [];
    const hear = async (_: unknown, given: readonly outbox.Fact[]) => void heard.push(idsOf(given));
    const counts = [
      await outbox.deliver(database.db, 3, hear),
      await outbox.deliver(database.db, 3, hear),
      await outbox.deliver(database.db, 3, hear),
    ];
    expect(counts).toEqual([3, 2, 0]);
    expect(heard).toEqual([idsOf(all.slice(0, 3)), idsOf(all.slice(3))]);
    expect(await undelivered()).toEqual([]);
  });

  it("keeps the facts, and what was done about them is undone, when the hearer fails: at least once", async () => {
    const all = facts(2);
    await append(all);
    await database.query("CREATE TABLE heard (id text)");
    await database.query("GRANT ALL ON heard TO farebox_app");
    const note = (tx: Parameters<Parameters<typeof outbox.deliver>[2]>[0]) =>
      tx.execute("INSERT INTO heard VALUES ('one')");
    const failing = outbox.deliver(database.db, 10, async (tx) => {
      await note(tx);
      throw new Error("out of paper");
    });
    expect(await failing).toBe(0);
    expect(await undelivered()).toEqual(idsOf(all));
    expect(await database.query("SELECT id FROM heard")).toEqual([]);
    await isLater();
    expect(await outbox.deliver(database.db, 10, async (tx) => void (await note(tx)))).toBe(2);
    expect(await database.query("SELECT id FROM heard")).toEqual([{ id: "one" }]);
  });

  it("keeps the facts when the deliverer's backend dies while they are heard", async () => {
    const all = facts(2);
    await append(all);
    const killed = outbox.deliver(database.db, 10, async (tx) => {
      const { rows } = await tx.execute<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      await database.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    });
    expect(await killed).toBe(0);
    expect(await undelivered()).toEqual(idsOf(all));
  });

  it("leaves to a second deliverer only what the first does not have in hand", async () => {
    const all = facts(6);
    await append(all);
    const [inHand, goOn] = [gate(), gate()];
    const heard: string[][] = [];
    const first = outbox.deliver(database.db, 4, async (_, given) => {
      heard.push(idsOf(given));
      inHand.open();
      await goOn.passed;
    });
    await inHand.passed;
    const hear = async (_: unknown, given: readonly outbox.Fact[]) => void heard.push(idsOf(given));
    expect(await outbox.deliver(database.db, 4, hear)).toBe(2);
    expect(await outbox.deliver(database.db, 4, hear)).toBe(0);
    goOn.open();
    expect(await first).toBe(4);
    expect(heard).toEqual([idsOf(all.slice(0, 4)), idsOf(all.slice(4))]);
    expect(await undelivered()).toEqual([]);
  });

  it("tells each fact once though four deliver at once, while facts keep coming", async () => {
    const heard: string[] = [];
    let done = false;
    const deliverer = async () => {
      while (!done || (await undelivered()).length > 0)
        await outbox.deliver(database.db, 7, async (_, given) => void heard.push(...idsOf(given)));
    };
    const all = Array.from({ length: 12 }, () => facts(10));
    const writer = async () => {
      for (const group of all) await append(group);
      done = true;
    };
    await Promise.all([writer(), deliverer(), deliverer(), deliverer(), deliverer()]);
    expect(heard.sort()).toEqual(
      all
        .flat()
        .map(({ id }) => id)
        .sort(),
    );
  });
});

describe("a fact that no hearer can take", () => {
  /** Fails on the facts of one subject, whoever comes with them. */
  function failingOn(subject: string) {
    const heard: string[] = [];
    const hear = async (_: unknown, given: readonly outbox.Fact[]) => {
      if (given.some((fact) => fact.subject === subject)) throw new Error(`cannot take ${subject}`);
      heard.push(...idsOf(given));
    };
    const failures: outbox.Failure[] = [];
    const turn = () => outbox.deliver(database.db, 10, hear, (failure) => void failures.push(failure));
    return { heard, failures, turn };
  }
  const withSubject = (fact: outbox.Fact | undefined, subject: string) =>
    fact ? [{ ...fact, subject }] : [];

  it("does not keep the others back; later facts of its own subject wait behind it", async () => {
    const [one, bad, two, behind] = facts(4);
    const all = [
      ...withSubject(one, "stl_1"),
      ...withSubject(bad, "stl_bad"),
      ...withSubject(two, "stl_2"),
      ...withSubject(behind, "stl_bad"),
    ];
    await append(all);
    const { heard, failures, turn } = failingOn("stl_bad");
    expect(await turn()).toBe(2);
    expect(heard).toEqual([one?.id, two?.id]);
    expect(failures).toMatchObject([{ fact: { id: bad?.id }, isDead: false }]);
    // until its pause is over neither is touched, and new facts of others are told as one group
    const [later] = facts(1);
    await append(later ? [later] : []);
    expect(await turn()).toBe(1);
    expect(failures).toHaveLength(1);
    expect(await undelivered()).toEqual([bad?.id, behind?.id]);
    // cured, both are told, in their order
    await isLater();
    const told: string[] = [];
    await outbox.deliver(database.db, 10, async (_, given) => void told.push(...idsOf(given)));
    expect(told).toEqual([bad?.id, behind?.id]);
  });

  it("is set aside in sight after eight tries, and told again when a person asks for it", async () => {
    const [bad, behind] = facts(2).map((fact) => ({ ...fact, subject: "stl_bad" }));
    await append(bad && behind ? [bad, behind] : []);
    const { failures, turn } = failingOn("stl_bad");
    for (let tries = 0; tries < 8; tries += 1) {
      if (tries > 0) await isLater();
      await turn();
    }
    expect(failures.map(({ isDead }) => isDead)).toEqual([...Array(7).fill(false), true]);
    expect(await outbox.dead(database.db.pool)).toEqual([
      { ...bad, attempts: 8, lastError: "Error cannot take stl_bad", deadAt: expect.any(Date) },
    ]);
    expect(await outbox.backlog(database.db.pool)).toMatchObject({ undelivered: 1, dead: 1 });
    // what stood behind it is told now
    const told: string[] = [];
    const hear = async (_: unknown, given: readonly outbox.Fact[]) => void told.push(...idsOf(given));
    expect(await outbox.deliver(database.db, 10, hear)).toBe(1);
    // and it comes back once, when asked for
    expect(await outbox.redeliver(database.db.pool, bad?.id ?? "")).toBe(true);
    expect(await outbox.redeliver(database.db.pool, bad?.id ?? "")).toBe(false);
    // with all its tries before it
    await turn();
    expect(failures.at(-1)).toMatchObject({ fact: { id: bad?.id }, isDead: false });
    await isLater();
    expect(await outbox.deliver(database.db, 10, hear)).toBe(1);
    expect(told).toEqual([behind?.id, bad?.id]);
    expect(await outbox.backlog(database.db.pool)).toEqual({ undelivered: 0, oldestSeconds: 0, dead: 0 });
  });

  it("says how old the oldest fact is that waits", async () => {
    await append(facts(2));
    await database.query(
      "UPDATE outbox SET occurred_at = now() - interval '91 seconds' WHERE subject = 'stl_0'",
    );
    const { undelivered: count, oldestSeconds } = await outbox.backlog(database.db.pool);
    expect(count).toBe(2);
    expect(oldestSeconds).toBeGreaterThanOrEqual(90);
    expect(oldestSeconds).toBeLessThan(120);
  });
});
