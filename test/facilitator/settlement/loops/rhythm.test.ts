import { describe, expect, it } from "vitest";
import { rhythm } from "../../../../facilitator/settlement/loops/rhythm.ts";

const usual = { blockMs: 2_000, paceMs: 100 };

/** Moments of the looks from `fromMs` on, until `toMs`. */
function looks(of: ReturnType<typeof rhythm>, fromMs: number, toMs: number, isAwaited = true): number[] {
  const all: number[] = [];
  for (let at = fromMs; at < toMs; at += of.pause(at, isAwaited)) all.push(at);
  return all;
}

describe("looking for the next block", () => {
  it("goes at the usual pace while no block was seen", () => {
    expect(looks(rhythm(usual), 0, 500)).toEqual([0, 100, 200, 300, 400]);
    expect(rhythm(usual).untilBlock(0)).toBeNull();
  });

  it("is frequent when the block is due, however far from a multiple of the pace", () => {
    const blocks = rhythm(usual);
    blocks.saw(1_035);
    const late = looks(blocks, 1_040, 3_035 + 120).filter((at) => at >= 3_035 - 30);
    expect(late[0]).toBe(3_035 - 30);
    expect(late.every((at, i) => i === 0 || at - (late[i - 1] ?? 0) <= 15)).toBe(true);
    expect(looks(blocks, 1_040, 3_000).length).toBeLessThanOrEqual(21);
  });

  it("goes at the usual pace again when the block is late", () => {
    const blocks = rhythm(usual);
    blocks.saw(0);
    expect(looks(blocks, 2_120, 2_520)).toEqual([2_120, 2_220, 2_320, 2_420]);
    expect(blocks.untilBlock(2_121)).toBeNull();
  });

  it("says how long it is to the block", () => {
    const blocks = rhythm(usual);
    blocks.saw(500);
    expect(blocks.untilBlock(500)).toBe(2_000);
    expect(blocks.untilBlock(2_400)).toBe(100);
    expect(blocks.untilBlock(2_550)).toBe(0);
  });

  it("never looks less often than usual on a chain of short blocks", () => {
    const blocks = rhythm({ blockMs: 40, paceMs: 10 });
    blocks.saw(0);
    expect(looks(blocks, 0, 40)).toEqual([0, 10, 20, 30]);
  });

  it("is made when it should be there, and from then on twice in a block's time, where nobody waits for it", () => {
    const blocks = rhythm(usual);
    expect(looks(blocks, 0, 3_000, false)).toEqual([0, 1_000, 2_000]);
    blocks.saw(1_035);
    expect(looks(blocks, 1_155, 6_000, false)).toEqual([1_155, 3_155, 4_155, 5_155]);
  });

  it("waits no longer than two seconds all the same: the right to follow is renewed between", () => {
    const blocks = rhythm({ blockMs: 12_000, paceMs: 100 });
    blocks.saw(0);
    expect(looks(blocks, 0, 14_000, false)).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 12_120]);
  });
});
