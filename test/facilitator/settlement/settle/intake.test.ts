import { describe, expect, it } from "vitest";
import type { Engine } from "../../../../facilitator/settlement/engine.ts";
import { intake } from "../../../../facilitator/settlement/settle/intake.ts";
import { silentLog } from "../../../support/dev-chain.ts";
import { gate } from "../../../support/gate.ts";
import { manualClock } from "../../../support/manual-clock.ts";

const LATE_MS = 10_000;
const OUTSIDE_MS = 5_000;
const MOMENT_MS = 200;
const late = { ms: LATE_MS, blocks: 4, most: 3, outsideMs: OUTSIDE_MS };

function open(blockTimeSeconds = 1) {
  const clock = manualClock();
  const engine = { clock, log: silentLog, settings: { late } } as unknown as Engine;
  const { serve } = intake({ slug: "local", blockTimeSeconds }, engine);
  const turn = () => clock.advance(0);

  /** So many settles that end when they are let go. */
  function come(count: number, payable = "one") {
    const held = gate();
    const told: (string | null)[] = [];
    let begun = 0;
    const work = async (claimed: () => void) => {
      begun += 1;
      claimed();
      await held.passed;
      return "done";
    };
    for (let i = 0; i < count; i += 1) void serve(payable, work).then((answer) => told.push(answer));
    return {
      begun: () => begun,
      sentAway: () => told.filter((answer) => answer === null).length,
      done: () => told.filter((answer) => answer === "done").length,
      async end() {
        held.open();
        for (let i = 0; i < 5; i += 1) await turn();
      },
    };
  }
  /** So many that end at once, with or without success, and never stand for a claim. */
  const refuse = (count: number) =>
    Promise.all(Array.from({ length: count }, () => serve("one", async () => "refused")));
  const fail = (count: number) =>
    Promise.allSettled(
      Array.from({ length: count }, () => serve("one", () => Promise.reject(new Error("no")))),
    );
  return { clock, come, refuse, fail };
}

describe("the intake of a chain", () => {
  it("takes what comes while few are late: theirs are payments that hang", async () => {
    const { clock, come } = open();
    come(late.most);
    await clock.advance(LATE_MS);
    expect(come(1_000).begun()).toBe(1_000);
  });

  it("leaves outside what comes while many are late, and sends it away after a while", async () => {
    const { clock, come } = open();
    come(late.most + 1);
    await clock.advance(LATE_MS - 1);
    expect(come(1).begun()).toBe(1);
    await clock.advance(MOMENT_MS);
    const next = come(2);
    await clock.advance(OUTSIDE_MS - 1);
    expect([next.begun(), next.sentAway()]).toEqual([0, 0]);
    await clock.advance(1);
    expect([next.begun(), next.sentAway()]).toEqual([0, 2]);
  });

  it("lets in who waits outside when the late ones have ended", async () => {
    const { clock, come } = open();
    const many = come(late.most + 1);
    await clock.advance(LATE_MS);
    const next = come(2);
    await clock.advance(MOMENT_MS);
    await many.end();
    expect([many.done(), next.begun()]).toEqual([late.most + 1, 2]);
    await next.end();
    expect([next.done(), next.sentAway()]).toEqual([2, 0]);
  });

  it("takes for a while no more than end in time, in the order in which they came", async () => {
    const { clock, come } = open();
    const many = come(20);
    await clock.advance(LATE_MS);
    const [first, second] = [come(15), come(15)];
    await clock.advance(MOMENT_MS);
    await many.end();
    expect([first.begun(), second.begun()]).toEqual([15, 5]);
    await first.end();
    expect(second.begun()).toBe(15);
  });

  it("keeps nobody from a payable that has little under way, whatever waits for another one", async () => {
    const { clock, come } = open();
    const many = come(20, "flooded");
    await clock.advance(LATE_MS);
    const flood = come(100, "flooded");
    await clock.advance(MOMENT_MS);
    const [other, another] = [come(1, "other"), come(100, "another")];
    expect([flood.begun(), other.begun(), another.begun()]).toEqual([0, 1, 1]);
    await many.end();
    expect([flood.begun(), another.begun()]).toEqual([18, 1]);
  });

  it("shares the room among those that have something under way, with one more to come", async () => {
    const { clock, come } = open();
    for (let i = 0; i < 50; i += 1) await come(1, `gone ${i}`).end();
    await clock.advance(LATE_MS + MOMENT_MS);
    const many = come(20, "flooded");
    await clock.advance(LATE_MS);
    const flood = come(100, "flooded");
    await clock.advance(MOMENT_MS);
    await many.end();
    expect(flood.begun()).toBe(20);
    expect(come(100, "other").begun()).toBe(6);
  });

  it("takes for room what ended lately, and nothing before", async () => {
    const { clock, come } = open();
    await come(50).end();
    await clock.advance(LATE_MS + MOMENT_MS);
    const many = come(20);
    await clock.advance(LATE_MS);
    const next = come(30);
    await clock.advance(MOMENT_MS);
    await many.end();
    expect(next.begun()).toBe(20);
  });

  it("lets in who waits outside before who comes later, also where time alone made room", async () => {
    const { clock, come } = open();
    const many = come(late.most + 1);
    await clock.advance(LATE_MS);
    const last = come(1);
    await many.end();
    await last.end();
    come(late.most);
    await clock.advance(29_000);
    const before = come(1);
    expect(before.begun()).toBe(0);
    await clock.advance(2_000);
    const after = come(1);
    await clock.advance(0);
    expect([before.begun(), after.begun()]).toEqual([1, 1]);
  });

  it("takes whatever comes when nothing was late for long", async () => {
    const { clock, come } = open();
    const many = come(20);
    await clock.advance(LATE_MS);
    come(1);
    await many.end();
    await clock.advance(31_000);
    expect(come(1_000).begun()).toBe(1_000);
  });

  it("gives a chain with slow blocks as many of them", async () => {
    const { clock, come } = open(12);
    come(20);
    await clock.advance(4 * 12_000 - 1);
    expect(come(1).begun()).toBe(1);
    await clock.advance(MOMENT_MS);
    expect(come(1).begun()).toBe(0);
  });

  it("does not take for room that much was refused", async () => {
    const { clock, come, refuse } = open();
    const many = come(20);
    await clock.advance(LATE_MS - MOMENT_MS);
    await refuse(100);
    await clock.advance(MOMENT_MS);
    const next = come(30);
    await many.end();
    expect(next.begun()).toBe(20);
  });

  it("is done with what failed", async () => {
    const { clock, come, fail } = open();
    await fail(20);
    await clock.advance(LATE_MS);
    expect(come(1_000).begun()).toBe(1_000);
  });
});
