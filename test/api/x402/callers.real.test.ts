/** Whom verify and settle count a call against: the merchant of a secret key, else the address it comes from. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

/** One settle without a payment; what is left of the allowance that it was counted against. */
function settler(app: ReturnType<typeof world>["app"], key: string) {
  const call = caller(app, { key });
  return async (address: string) => {
    const { status, headers } = await call("POST", "/x402/settle", { body: {}, address });
    return { status, left: Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]) };
  };
}

describe("a call with a secret key", () => {
  it("is counted against its merchant, wherever it comes from", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const settle = settler(app, (await newCaller(database.db)).key);
    const answers = await Promise.all([settle("192.0.2.1"), settle("192.0.2.2")]);
    expect(answers.map(({ left }) => left).sort()).toEqual([98, 99]);
  });

  it("is counted by address where the key does not work from there", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const { key } = await newCaller(database.db, { allowedIps: ["203.0.113.0/24"] });
    const settle = settler(app, key);
    const answers = await Promise.all([settle("192.0.2.1"), settle("192.0.2.2"), settle("203.0.113.1")]);
    expect(answers).toEqual([1, 2, 3].map(() => ({ status: 200, left: 99 })));
  });
});

describe("a call with a publishable key", () => {
  it("is counted by address: a flood of them leaves the merchant's own server its allowance", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const { merchantId, key } = await newCaller(database.db);
    const pk = await newCaller(database.db, { merchantId, kind: "pk" });
    const flood = settler(app, pk.key);
    // Once the key is known, all of them are counted at one time.
    await flood("192.0.2.1");
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => flood("192.0.2.1")));
    expect(answers.some(({ status }) => status === 429)).toBe(true);
    expect(await settler(app, key)("192.0.2.2")).toEqual({ status: 200, left: 99 });
    expect((await flood("192.0.2.3")).status).toBe(200);
  });
});
