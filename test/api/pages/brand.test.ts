import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brandStyle, contrast, inkOn, styleAt } from "../../../api/pages/brand.ts";

const colour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((n) => `#${n.toString(16).padStart(6, "0")}`);

describe("a merchant's colour", () => {
  it("can be read upon, whichever it is", () => {
    fc.assert(
      fc.property(colour, (each) => {
        expect(contrast(each, inkOn(each))).toBeGreaterThanOrEqual(4.5);
      }),
    );
    // The grey that is as far from black as from white.
    expect(contrast("#757575", inkOn("#757575"))).toBeGreaterThanOrEqual(4.5);
  });

  it("is measured as others measure it", () => {
    expect(contrast("#000000", "#ffffff")).toBe(21);
    expect(contrast("#ffffff", "#ffffff")).toBe(1);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  });

  it("is a style sheet at an address of its own, and nothing else can be written into one", () => {
    expect(styleAt(brandStyle("#0a5c36"))).toContain("--stub:#0a5c36");
    for (const path of [
      "/assets/brand-0a5c3.css",
      "/assets/brand-0a5c36;}.css",
      "/assets/brand-0A5C36.css",
      "/x",
    ])
      expect(styleAt(path)).toBeNull();
  });
});
