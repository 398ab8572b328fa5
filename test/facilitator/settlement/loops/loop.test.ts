import { describe, expect, it } from "vitest";
import type { Log } from "#kernel/log";
import { loop } from "../../../../facilitator/settlement/loops/loop.ts";
import { manualClock } from "../../../support/manual-clock.ts";

function counted(step: (turn: number) => Promise<void> = async () => {}) {
  const clock = manualClock();
  const warned: number[] = [];
  const log: Log = {
    info: () => undefined,
    warn: ({ failures }) => void warned.push(Number(failures)),
    error: () => undefined,
  };
  let turns = 0;
  const running = loop(
    { name: "test", clock, log, meter: { count: () => undefined, time: () => undefined }, everyMs: 100 },
    async () => {
      turns += 1;
      await step(turns);
    },
  );
  return { clock, running, warned, turns: () => turns };
}

describe("a loop", () => {
  it("repeats its step after a pause, or when it is woken", async () => {
    const { clock, running, turns } = counted();
    running.start();
    await clock.advance(0);
    expect(turns()).toBe(1);
    await clock.advance(99);
    expect(turns()).toBe(1);
    await clock.advance(1);
    expect(turns()).toBe(2);
    running.wake();
    await clock.advance(0);
    expect(turns()).toBe(3);
    await running.stop();
  });

  it("does not lose a call that comes while its step runs", async () => {
    let letGo = () => {};
    const { clock, running, turns } = counted((turn) =>
      turn === 1
        ? new Promise((resolve) => {
            letGo = resolve;
          })
        : Promise.resolve(),
    );
    running.start();
    await clock.advance(0);
    running.wake();
    letGo();
    await clock.advance(0);
    expect(turns()).toBe(2);
    await running.stop();
  });

  it("survives a step that fails, and leaves longer and longer pauses, up to five seconds", async () => {
    const { clock, running, warned, turns } = counted((turn) =>
      turn <= 10 ? Promise.reject(new Error("no")) : Promise.resolve(),
    );
    running.start();
    const pauses: number[] = [];
    await clock.advance(0);
    for (let seen = turns(); pauses.length < 10; ) {
      let waited = 0;
      while (turns() === seen) {
        waited += 100;
        await clock.advance(100);
      }
      seen = turns();
      pauses.push(waited);
    }
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000, 5_000]);
    expect(warned).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await clock.advance(100);
    expect(turns()).toBe(12);
    await running.stop();
  });

  it("stops after the step that runs, and not before", async () => {
    let letGo = () => {};
    const { clock, running, turns } = counted(
      () =>
        new Promise((resolve) => {
          letGo = resolve;
        }),
    );
    running.start();
    await clock.advance(0);
    let hasStopped = false;
    const stopped = running.stop().then(() => {
      hasStopped = true;
    });
    await clock.advance(1_000);
    expect(hasStopped).toBe(false);
    letGo();
    await stopped;
    expect(turns()).toBe(1);
  });
});
