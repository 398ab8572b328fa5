import { describe, expect, it } from "vitest";
import { leastHeaps } from "./memory.ts";

const collection = (atMs: number, mb: number, kind = "") =>
  `[2350:0x3bfe0ce0] ${String(atMs).padStart(8)} ms: Mark-Compact ${kind}180.5 (210.0) -> ${mb.toFixed(1)} (190.0) MB, 13.09 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task; GC in old space requested`;

describe("the heap's memory", () => {
  it("is the least it came down to in each span of time", () => {
    const log = [
      collection(500, 60.4),
      '{"level":"error","msg":"Mark-Compact"}',
      collection(59_000, 90.6, "(reduce) "),
      collection(59_900, 80.2),
      collection(60_000, 95),
      collection(200_000, 91.7),
    ].join("\n");
    expect(leastHeaps(log, 60)).toEqual([60, 95, 92]);
    expect(leastHeaps("", 60)).toEqual([]);
  });
});
