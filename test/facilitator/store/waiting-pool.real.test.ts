import { describe, expect, it, onTestFinished } from "vitest";
import { WaitingPool } from "#store";
import { atPort } from "../../support/database-at.ts";
import { sharedDatabase } from "../../support/db.ts";
import { startProxy } from "./proxy.ts";

const database = sharedDatabase();

function open(url: string) {
  const stop = new AbortController();
  const pool = new WaitingPool({ url, maxConnections: 1, stopping: stop.signal });
  onTestFinished(() => pool.end());
  return { pool, stop };
}

describe("a pool whose statements wait", () => {
  it.each(["unheard", "unanswered"] as const)("sends one again that was lost, %s", async (when) => {
    const proxy = await startProxy(database.url);
    onTestFinished(() => proxy.stop());
    const { pool } = open(proxy.url);
    proxy.cutAt("'hello'", when);
    expect((await pool.query("SELECT 'hello' AS said")).rows).toEqual([{ said: "hello" }]);
  });

  it("tells an error that is none of an outage at once", async () => {
    const { pool } = open(database.url);
    await expect(pool.query("SELECT no_such_column")).rejects.toMatchObject({ code: "42703" });
  });

  it("waits no longer when it is told to stop", async () => {
    const { pool, stop } = open(atPort(database.url, 1));
    const asked = pool.query("SELECT 1");
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
