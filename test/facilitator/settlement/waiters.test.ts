import { describe, expect, it } from "vitest";
import { type Hash, hash } from "#kernel/bytes";
import type { Executor } from "#store";
import type { ToldClaim } from "../../../facilitator/settlement/claim-parts.ts";
import { waiters } from "../../../facilitator/settlement/waiters.ts";
import { manualClock } from "../../support/manual-clock.ts";

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

  it("is over at once for those who come while the service stops", async () => {
    const waiting = waiters(manualClock());
    const before = waiting.wait(of(one), 1_000, forEver());
    waiting.close();
    expect(await before).toBe(false);
    expect(await waiting.wait(of(one), 1_000, forEver())).toBe(false);
  });
});
