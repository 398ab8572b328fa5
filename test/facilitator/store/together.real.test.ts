import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase, outageOf, sqlState, type Tx, together } from "#store";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { gate } from "../../support/gate.ts";
import { startProxy } from "./proxy.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
  await database.query("CREATE TABLE note (text text PRIMARY KEY)");
  await database.query("GRANT ALL ON note TO farebox_app");
});
beforeEach(async () => {
  await database.query("DELETE FROM note");
});
afterAll(() => database.drop());

const write = async (tx: Tx, text: string) =>
  (await tx.execute(sql`INSERT INTO note VALUES (${text})`)).rowCount;
const count = async (tx: Tx) =>
  (await tx.execute(sql`SELECT count(*)::int AS notes FROM note`)).rows[0]?.notes;
const notes = async () =>
  (await database.query<{ text: string }>("SELECT text FROM note ORDER BY text")).map(({ text }) => text);

describe("statements that are sent together", () => {
  it("are all sent before the first is answered", async () => {
    const proxy = await startProxy(database.url);
    const db = openDatabase({ url: proxy.url, log: silentLog, name: "far", maxConnections: 1 });
    const { passed, open: leave } = gate();
    const holds = gate();
    const holder = database.db.tx(async (tx) => {
      await write(tx, "held");
      holds.open();
      await passed;
    });
    onTestFinished(async () => {
      leave();
      await Promise.all([holder, db.close()]);
      await proxy.stop();
    });
    await holds.passed;
    proxy.cutAt("behind", "unheard");
    // The first waits for the holder's key, and would for longer than a lock may take.
    const work = db.tx((tx) => together([write(tx, "held"), write(tx, "behind")]));
    const error: unknown = await work.catch((thrown) => thrown);
    expect([sqlState(error), outageOf(error)?.code]).toEqual([null, "database_unavailable"]);
  });

  it("answer each in its place", async () => {
    const answers = await database.db.tx((tx) => together([write(tx, "a"), count(tx), write(tx, "b")]));
    expect(answers).toEqual([1, expect.any(Number), 1]);
    expect(await notes()).toEqual(["a", "b"]);
  });

  it("fail with the error of the one that failed, not of those it took along, and leave nothing", async () => {
    await database.query("INSERT INTO note VALUES ('twice')");
    const work = database.db.tx((tx) =>
      together([write(tx, "first"), write(tx, "twice"), write(tx, "last")]),
    );
    const error: unknown = await work.catch((thrown) => thrown);
    expect(sqlState(error)).toBe("23505");
    expect(await notes()).toEqual(["twice"]);
    expect(await database.db.tx((tx) => write(tx, "next"))).toBe(1);
  });

  it("have all ended when one of them gives up: nothing is sent behind the end of the transaction", async () => {
    const work = database.db.tx((tx) => {
      const givesUp = count(tx).then(() => Promise.reject(new Error("changed my mind")));
      const goesOn = write(tx, "one").then(() => write(tx, "two"));
      return together([givesUp, goesOn.then(() => write(tx, "three"))]);
    });
    await expect(work).rejects.toThrow("changed my mind");
    expect(await database.db.tx((tx) => write(tx, "next"))).toBe(1);
    expect(await notes()).toEqual(["next"]);
  });
});
