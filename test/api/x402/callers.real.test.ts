/** Whom verify and settle count a call against: the merchant of a secret key, else the address it comes from. */
import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { makeKey } from "../../../api/merchant/key.ts";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

const database = sharedDatabase();

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
    const [flood, settle] = [settler(app, pk.key), settler(app, key)];
    // Once both keys are known, all that follows is counted at one time.
    await Promise.all([flood("192.0.2.1"), settle("192.0.2.2")]);
    const floods = Array.from({ length: 1_000 }, () => flood("192.0.2.1"));
    const own = await settle("192.0.2.2");
    const answers = await Promise.all(floods);
    expect(answers.some(({ status }) => status === 429)).toBe(true);
    expect(own.status).toBe(200);
    expect(own.left).toBeGreaterThanOrEqual(98);
    expect((await flood("192.0.2.3")).status).toBe(200);
  });
});

describe("a call with a key that nobody has", () => {
  /** The same database, and how often it was asked. */
  function watched() {
    const { db } = database;
    let looks = 0;
    const seen = {
      ...db,
      get pool() {
        looks += 1;
        return db.pool;
      },
    };
    return { db: seen, looks: () => looks };
  }

  it("is counted by address, and soon costs no look at the database", async () => {
    const { db, looks } = watched();
    const { app } = world({ db, rateLimits: "on" });
    const known = settler(app, (await newCaller(database.db)).key);
    await known("192.0.2.1");
    const before = looks();
    const guess = (address: string) => settler(app, makeKey("sk", systemRandom))(address);
    const answers = await Promise.all(Array.from({ length: 400 }, () => guess("192.0.2.1")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // 50 at once and 5 a second: some seconds pass on a slow machine.
    expect(looks() - before).toBeLessThan(150);
    expect(looks() - before).toBeGreaterThan(0);
    expect((await known("192.0.2.1")).left).toBeGreaterThanOrEqual(98);
  });

  it("hides no good key that was not seen here yet from another address", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const { key } = await newCaller(database.db);
    const guess = () => settler(app, makeKey("sk", systemRandom))("192.0.2.1");
    await Promise.all(Array.from({ length: 60 }, guess));
    const settle = settler(app, key);
    const answers = [await settle("192.0.2.2"), await settle("192.0.2.3")];
    expect(Math.min(...answers.map(({ left }) => left))).toBe(98);
  });
});
