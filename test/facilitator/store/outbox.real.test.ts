import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { outbox } from "#store";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";

let database: TestDatabase;
const newId = idMaker({ clock: systemClock, random: systemRandom });
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query("DELETE FROM outbox");
});
afterAll(() => database.drop());

/** In the order of their ids; within a millisecond that is not the order in which they were made. */
function facts(count: number): outbox.Fact[] {
  const ids = Array.from({ length: count }, () => newId("evt")).sort();
  return ids.map((id, n) => ({
    id,
    type: "settlement.credited",
    subject: `stl_${n}`,
    merchantId: "mer_one",
    payload: { amount: "10000", n },
  }));
}
const append = (all: readonly outbox.Fact[]) => database.db.tx((tx) => outbox.append(tx, all));
const undelivered = async () =>
  (await database.query<{ id: string }>("SELECT id FROM outbox WHERE delivered_at IS NULL ORDER BY id")).map(
    ({ id }) => id,
  );
const idsOf = (all: readonly outbox.Fact[]) => all.map(({ id }) => id);

/** A promise and its end. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe("append", () => {
  it("writes facts whole, in the transaction that made them true", async () => {
    const [fact] = facts(1);
    await append(fact ? [fact] : []);
    const heard: outbox.Fact[] = [];
    await outbox.deliver(database.db, 10, async (_, all) => void heard.push(...all));
    expect(heard).toEqual([fact]);
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
  it("hands facts over in the order of their ids, as many as asked for, until none is left", async () => {
    const all = facts(5);
    await append([...all].reverse());
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
    await expect(failing).rejects.toThrow("out of paper");
    expect(await undelivered()).toEqual(idsOf(all));
    expect(await database.query("SELECT id FROM heard")).toEqual([]);
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
    await expect(killed).rejects.toThrow();
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
