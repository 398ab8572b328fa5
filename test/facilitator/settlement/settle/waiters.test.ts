import type { SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { type Hash, hash } from "#kernel/bytes";
import type { Executor } from "#store";
import type { ToldClaim } from "../../../../facilitator/settlement/claim/claim-parts.ts";
import { type Waiters, waiters } from "../../../../facilitator/settlement/settle/waiters.ts";
import { type ManualClock, manualClock } from "../../../support/manual-clock.ts";

const [one, other] = [hash(`0x${"1".repeat(64)}`), hash(`0x${"2".repeat(64)}`)];
const chainId = 1;
const of = (claimKey: Hash) => ({ claimKey, chainId });
const forEver = () => new AbortController().signal;

/** A database in which these claims have an outcome, that counts how often it was asked. */
function databaseWith(decided: readonly Hash[]) {
  let asked = 0;
  const where = async () => {
    asked += 1;
    return decided.map((claimKey) => ({ claimKey }));
  };
  const db = { select: () => ({ from: () => ({ where }) }) } as unknown as Executor;
  return { db, asked: () => asked };
}

describe("waiting for a claim", () => {
  it("ends for all who wait for it when it is told of, and for nobody else", async () => {
    const clock = manualClock();
    const waiting = waiters(clock);
    const mine = [waiting.wait(of(one), 1_000, forEver()), waiting.wait(of(one), 2_000, forEver())];
    const others = waiting.wait(of(other), 1_000, forEver());
    waiting.tell([one]);
    expect(await Promise.all(mine)).toEqual([true, true]);
    expect(clock.sleepers()).toBe(1);
    await clock.advance(1_000);
    expect(await others).toBe(false);
  });

  it("ends without an outcome when its time is up, or the caller is gone", async () => {
    const clock = manualClock();
    const waiting = waiters(clock);
    const late = waiting.wait(of(one), 1_000, forEver());
    await clock.advance(1_000);
    expect(await late).toBe(false);
    const caller = new AbortController();
    const left = waiting.wait(of(one), 1_000, caller.signal);
    caller.abort();
    expect(await left).toBe(false);
    expect(await waiting.wait(of(one), 1_000, caller.signal)).toBe(false);
    expect(clock.sleepers()).toBe(0);
  });

  it("shares one query among all, and asks none when nobody waits", async () => {
    const waiting = waiters(manualClock());
    const { db, asked } = databaseWith([one]);
    await waiting.poll(db);
    expect(asked()).toBe(0);
    const all = Array.from({ length: 100 }, () => waiting.wait(of(one), 1_000, forEver()));
    const undecided = waiting.wait(of(other), 1_000, forEver());
    await waiting.poll(db);
    expect(asked()).toBe(1);
    expect(new Set(await Promise.all(all))).toEqual(new Set([true]));
    waiting.close();
    expect(await undecided).toBe(false);
  });

  it("asks about some hundreds in one turn, and has a turn for each of many", async () => {
    const waiting = waiters(manualClock());
    const keys = Array.from({ length: 700 }, (_, i) =>
      hash(`0x${"ab".repeat(28)}${i.toString(16).padStart(8, "0")}`),
    );
    const all = keys.map((key) => waiting.wait(of(key), 60_000, forEver()));
    const asked: Hash[][] = [];
    const where = async (condition: SQL) => {
      const [bytes] = new PgDialect().sqlToQuery(condition).params as [Buffer];
      asked.push(keys.filter((key) => bytes.includes(key.slice(2), "hex")));
      return [];
    };
    const db = { select: () => ({ from: () => ({ where }) }) } as unknown as Executor;
    for (let turn = 0; turn < 4; turn += 1) await waiting.poll(db);
    expect(asked.map(({ length }) => length)).toEqual([200, 200, 200, 200]);
    expect(new Set(asked.flat())).toEqual(new Set(keys));
    waiting.close();
    expect(new Set(await Promise.all(all))).toEqual(new Set([false]));
  });

  it("hands the row to who waits for it where this process wrote it", async () => {
    const waiting = waiters(manualClock());
    const row = { claimKey: one, creditState: "credited" } as ToldClaim;
    const mine = waiting.wait(of(one), 1_000, forEver());
    waiting.hand([row]);
    expect(await mine).toBe(row);
  });

  it("asks at once about each, and rarely again while its credit is expected to be handed over", async () => {
    const clock = manualClock();
    const waiting = waiters(clock);
    const { db, asked } = databaseWith([]);
    const mine = waiting.wait(of(one), 60_000, forEver());
    const turns = async (count: number) => {
      const before = asked();
      for (let turn = 0; turn < count; turn += 1) {
        await waiting.poll(db);
        await clock.advance(100);
      }
      return asked() - before;
    };
    expect(await turns(4)).toBe(4);
    waiting.expect(chainId);
    expect(await turns(8)).toBe(2);
    await clock.advance(1_000);
    expect(await turns(4)).toBe(4);
    waiting.expect(chainId + 1);
    expect(await turns(4)).toBe(4);
    waiting.close();
    expect(await mine).toBe(false);
  });

  describe("by somebody who is promised success with the credit", () => {
    const row = { claimKey: one, creditState: "credited" } as ToldClaim;

    it("is the first caller who can be granted it; the others are handed the row as well", async () => {
      const waiting = waiters(manualClock());
      const anonymous = waiting.wait(of(one), 1_000, forEver());
      const mine = waiting.wait(of(one), 1_000, forEver(), "req_1");
      const later = waiting.wait(of(one), 1_000, forEver(), "req_2");
      expect([...waiting.promise([one, other])]).toEqual([[one, "req_1"]]);
      waiting.hand([row]);
      waiting.withdraw([one]);
      expect(await Promise.all([anonymous, mine, later])).toEqual([row, row, row]);
    });

    it.each([
      ["its time is up", async (clock: ManualClock) => clock.advance(1_000)],
      ["it has gone away", async (_: ManualClock, caller: AbortController) => caller.abort()],
      ["the service stops", async (_: ManualClock, __: AbortController, all: Waiters) => all.close()],
      [
        "another outcome is told",
        async (_: ManualClock, __: AbortController, all: Waiters) => all.tell([one]),
      ],
    ])("lasts until it is known how that went, though %s", async (_, happens) => {
      const clock = manualClock();
      const waiting = waiters(clock);
      const caller = new AbortController();
      const kept = waiting.wait(of(one), 1_000, caller.signal, "req_1");
      waiting.promise([one]);
      await happens(clock, caller, waiting);
      expect(await Promise.race([kept, "still waiting"])).toBe("still waiting");
      waiting.hand([row]);
      expect(await kept).toBe(row);
    });

    it("ends as it would have when nothing comes of the promise, and goes on where nothing had ended it", async () => {
      const clock = manualClock();
      const waiting = waiters(clock);
      const late = waiting.wait(of(one), 1_000, forEver(), "req_1");
      const patient = waiting.wait(of(other), 9_000, forEver(), "req_2");
      waiting.promise([one, other]);
      await clock.advance(1_000);
      waiting.withdraw([one, other]);
      expect(await late).toBe(false);
      waiting.tell([other]);
      expect(await patient).toBe(true);
    });
  });

  it("is over at once for those who come while the service stops", async () => {
    const waiting = waiters(manualClock());
    const before = waiting.wait(of(one), 1_000, forEver());
    waiting.close();
    expect(await before).toBe(false);
    expect(await waiting.wait(of(one), 1_000, forEver())).toBe(false);
  });
});
