import { sql } from "drizzle-orm";
import { describe, expect, it, onTestFinished } from "vitest";
import { isGone, openPresence } from "#store";
import { atPort } from "../../support/database-at.ts";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { until } from "../../support/house.ts";

const database = sharedDatabase();

function presenceOf(name: string) {
  const presence = openPresence({ url: database.url, log: silentLog, role: "farebox_app", name });
  onTestFinished(() => presence.close());
  return presence;
}

/** As the service asks: as its own role. */
async function isSeen(name: string): Promise<boolean> {
  const { rows } = await database.db.pool.execute<{ gone: boolean }>(
    sql`SELECT ${isGone(sql`${name}::text`)} AS gone`,
  );
  return rows[0]?.gone === false;
}

const sessions = async () =>
  (
    await database.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'farebox-presence' AND datname = current_database()",
    )
  ).map(({ pid }) => pid);

describe("the presence of a process", () => {
  it("is seen from when it is shown until it is closed, by its name", async () => {
    const presence = presenceOf("one");
    expect(await isSeen("one")).toBe(false);
    await presence.show();
    expect(await isSeen("one")).toBe(true);
    expect(await isSeen("another")).toBe(false);
    await presence.close();
    await until(async () => !(await isSeen("one")), "it is gone");
  });

  it("takes one session, however often it is shown", async () => {
    const presence = presenceOf("often");
    await Promise.all([presence.show(), presence.show()]);
    await presence.show();
    expect(await sessions()).toHaveLength(1);
  });

  it("ends with its session, and is back when it is shown again", async () => {
    const presence = presenceOf("again");
    await presence.show();
    for (const pid of await sessions()) await database.query("SELECT pg_terminate_backend($1)", [pid]);
    await until(async () => !(await isSeen("again")), "it is gone");
    await until(async () => {
      await presence.show();
      return isSeen("again");
    }, "it is back");
  });

  it("that cannot be shown is an outage, and no reason to give up", async () => {
    const url = atPort(database.url, 1);
    const nowhere = openPresence({ url, log: silentLog, role: "farebox_app", name: "nowhere" });
    await expect(nowhere.show()).rejects.toMatchObject({ code: "database_unavailable" });
    await expect(nowhere.show()).rejects.toMatchObject({ code: "database_unavailable" });
    await nowhere.close();
  });
});
