import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSafeFetch, openMovableClock, type Sandbox, sandboxAccess, sandboxProvider } from "#api";
import { systemClock } from "#kernel/system";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { stillSandbox, world } from "../world.ts";

const access = sandboxAccess("a master secret for tests");
const fetch = createSafeFetch({ allowLocal: true, userAgent: "test" });
const provider = sandboxProvider({ baseUrl: "http://127.0.0.1:1", access, fetch });
const path = "/v1/test/advance-clock";
const HOUR = 3_600;

let who: Caller;
const opened: Sandbox["clock"][] = [];

/** What a process has: its own view of the stored offset. */
async function process() {
  const movable = await openMovableClock({ db: database.db, clock: systemClock, log: silentLog });
  opened.push(movable);
  movable.start();
  const sandbox = { ...stillSandbox, clock: movable, provider };
  const { app } = world({ db: database.db, sandbox, isSandbox: true, time: systemClock });
  return { app, movable, call: caller(app, who) };
}
/** Seconds by which the merchants' clock is ahead. */
const ahead = ({ movable }: Awaited<ReturnType<typeof process>>) =>
  Math.round((movable.clock.now().getTime() - Date.now()) / 1_000) + 0; // no -0

const database = sharedDatabase();
beforeAll(async () => {
  who = await newCaller(database.db);
});
afterAll(async () => {
  await Promise.all(opened.map((each) => each.stop()));
});

describe("POST /v1/test/advance-clock", () => {
  it("moves the clock of every process by the time it answers, and of those that start later", async () => {
    const [one, other] = [await process(), await process()];
    expect([ahead(one), ahead(other)]).toEqual([0, 0]);
    const answer = await one.call("POST", path, { body: { seconds: HOUR } });
    expect(answer.status).toBe(200);
    expect([answer.body.offsetSeconds, ahead(one), ahead(other)]).toEqual([HOUR, HOUR, HOUR]);
    expect(Math.abs(Date.parse(answer.body.now) - HOUR * 1_000 - Date.now())).toBeLessThan(5_000);
    expect((await other.call("POST", path, { body: { seconds: 60 } })).body.offsetSeconds).toBe(HOUR + 60);
    expect([ahead(one), ahead(await process())]).toEqual([HOUR + 60, HOUR + 60]);
  });

  it("adds up what is asked at once", async () => {
    const [one, other] = [await process(), await process()];
    const before = ahead(one);
    const ask = ({ call }: typeof one) => call("POST", path, { body: { seconds: 10 } });
    await Promise.all([ask(one), ask(other), ask(one), ask(other)]);
    expect([ahead(one), ahead(other)]).toEqual([before + 40, before + 40]);
  });

  it("tells of it, so that nobody has to wait for the next look", async () => {
    const { call } = await process();
    const { body } = await call("POST", path, { body: { seconds: 5 } });
    const facts = await database.query<{ subject: string; payload: unknown }>(
      "SELECT subject, payload FROM outbox WHERE type = 'sandbox.clock_advanced' AND payload->>'seconds' = '5'",
    );
    expect(facts).toEqual([
      { subject: who.merchantId, payload: { seconds: 5, offsetSeconds: body.offsetSeconds } },
    ]);
  });

  it("leaves alone what is judged by others: callbacks are signed by real time", async () => {
    const { app } = await process();
    const [body, at] = ['{"type":"x","data":{"id":"sbx_1"}}', new Date()];
    const headers = {
      "webhook-id": "sbe_1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(access.webhookSecret).sign("sbe_1", at, body),
    };
    const answer = await app.request("/v1/provider-webhooks/sandbox", { method: "POST", body, headers });
    expect(answer.status).toBe(200);
  });

  it.each([0, -1, 1.5, 366 * 86_400 + 1, "60"])("refuses %s seconds", async (seconds) => {
    const one = await process();
    const before = ahead(one);
    const answer = await one.call("POST", path, { body: { seconds } });
    expect([answer.status, answer.body.code, ahead(one)]).toEqual([400, "validation_failed", before]);
  });

  it("refuses what would lead more than thirty years ahead", async () => {
    const one = await process();
    await database.query("UPDATE sandbox_clock SET offset_seconds = 946079990");
    const answer = await one.call("POST", path, { body: { seconds: 11 } });
    expect([answer.status, answer.body.code]).toEqual([422, "simulation_impossible"]);
  });
});

describe("elsewhere than on a sandbox", () => {
  it.each(["advance-clock", "reorg", "deposits"])(
    "POST /v1/test/%s is not found, whatever the key",
    async (name) => {
      const { app } = world({ db: database.db });
      for (const key of [who.key, ""]) {
        const answer = await caller(app, { key })("POST", `/v1/test/${name}`, { body: {} });
        expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
      }
    },
  );
});
