import { sql } from "drizzle-orm";
import { describe, expect, it, onTestFinished } from "vitest";
import { outageOf, sqlState, type Tx, together } from "#store";
import { gate } from "../../support/gate.ts";
import { database, notes, open, withNotes, write } from "./notes.ts";
import { startProxy } from "./proxy.ts";

withNotes();

const echo = async (tx: Tx, text: string) =>
  (await tx.execute(sql`SELECT ${text}::text AS text`)).rows[0]?.text;

describe("statements that are sent together", () => {
  it("are all sent before the first is answered", async () => {
    const proxy = await startProxy(database.url);
    onTestFinished(() => proxy.stop());
    const db = open({ url: proxy.url, maxConnections: 1 });
    const { passed, open: leave } = gate();
    const holds = gate();
    const holder = database.db.tx(async (tx) => {
      await write(tx, "held");
      holds.open();
      await passed;
    });
    onTestFinished(async () => {
      leave();
      await holder;
    });
    await holds.passed;
    proxy.cutAt("behind", "unheard");
    // The first waits for the holder's key, and would for longer than a lock may take.
    const work = db.tx((tx) => together([write(tx, "held"), write(tx, "behind")]));
    const error: unknown = await work.catch((thrown) => thrown);
    expect([sqlState(error), outageOf(error)?.code]).toEqual([null, "database_unavailable"]);
  });

  it("answer each in its place", async () => {
    const answers = database.db.tx((tx) => together([echo(tx, "a"), echo(tx, "b"), echo(tx, "c")]));
    expect(await answers).toEqual(["a", "b", "c"]);
  });

  it("fail with the error of the one that failed, not of those it took along, and leave nothing", async () => {
    await database.query("INSERT INTO note VALUES ('twice')");
    const work = database.db.tx((tx) =>
      together([write(tx, "first"), write(tx, "twice"), write(tx, "last")]),
    );
    const error: unknown = await work.catch((thrown) => thrown);
    expect(sqlState(error)).toBe("23505");
    expect(await notes()).toEqual(["twice"]);
    await database.db.tx((tx) => write(tx, "next"));
  });

  it("have all ended when one of them gives up: nothing is sent behind the end of the transaction", async () => {
    const work = database.db.tx((tx) => {
      const givesUp = echo(tx, "one").then(() => Promise.reject(new Error("changed my mind")));
      const goesOn = write(tx, "one").then(() => write(tx, "two"));
      return together([givesUp, goesOn.then(() => write(tx, "three"))]);
    });
    await expect(work).rejects.toThrow("changed my mind");
    await database.db.tx((tx) => write(tx, "next"));
    expect(await notes()).toEqual(["next"]);
  });
});
