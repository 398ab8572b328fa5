import { sql } from "drizzle-orm";
import { describe, expect, it, onTestFinished } from "vitest";
import { outageOf, sqlState } from "#store";
import { atPort } from "../../support/database-at.ts";
import { until } from "../../support/house.ts";
import { database, notes, open, outcome, withNotes } from "./notes.ts";
import { startProxy } from "./proxy.ts";

withNotes();

describe("a write that is alone", () => {
  const add = (text: string) => sql`INSERT INTO note VALUES (${text}) RETURNING text`;

  it("is committed when it is answered, and hands on its rows", async () => {
    const { rows } = await open().write(add("kept"));
    expect([rows, await notes()]).toEqual([[{ text: "kept" }], ["kept"]]);
  });

  it("is a plain no when the server refuses, or cancels it", async () => {
    const db = open({ statementMs: 50 });
    await db.write(add("twice"));
    const refused: unknown = await db.write(add("twice")).catch((error) => error);
    expect([sqlState(refused), outageOf(refused)]).toEqual(["23505", null]);
    expect(await outcome(db.write(sql`SELECT pg_sleep(4)`))).toBe("database_unavailable");
    expect(await outcome(db.write(add("next")))).toBe("committed");
    expect(await notes()).toEqual(["next", "twice"]);
  });

  it.each([
    ["unheard", []],
    ["unanswered", ["perhaps"]],
  ] as const)("is commit_unknown when the wire is cut and it was %s", async (when, left) => {
    const proxy = await startProxy(database.url);
    onTestFinished(() => proxy.stop());
    const db = open({ url: proxy.url, maxConnections: 1 });
    proxy.cutAt("perhaps", when);
    expect(await outcome(db.write(add("perhaps")))).toBe("commit_unknown");
    await until(async () => (await notes()).length === left.length, "the server has decided");
    expect(await outcome(db.write(add("next")))).toBe("committed");
  });

  it("is database_unavailable where there is no server to send it to", async () => {
    expect(await outcome(open({ url: atPort(database.url, 1) }).write(add("never")))).toBe(
      "database_unavailable",
    );
  });
});
