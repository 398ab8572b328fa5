import { describe, expect, it } from "vitest";
import { CountryCode } from "../../../api/http/country.ts";

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const all = letters.flatMap((first) => letters.map((second) => first + second));
const problems = (text: string) =>
  CountryCode.safeParse(text).error?.issues.map(({ message }) => message) ?? [];

describe("the code of a country", () => {
  it("is one of the 249 of ISO 3166-1, or Kosovo's", () => {
    expect(all.filter((code) => problems(code).length === 0)).toHaveLength(250);
  });

  it.each(["PT", "GB", "NO", "TW", "AX", "BQ", "SX", "UM", "XK"])("%s is one", (code) => {
    expect(problems(code)).toEqual([]);
  });

  it.each(["ZZ", "EU", "UN", "XA", "XB", "QO", "EZ", "UK", "AN", "SU", "AC", "AA"])(
    "%s is none, and the refusal says so",
    (code) => {
      expect(problems(code)).toEqual([
        `a country of ISO 3166-1, which ${code} is not; send its two letters, such as PT`,
      ]);
    },
  );

  it.each(["", "pt", "PRT", "Portugal", "P1"])("%j is not even two capital letters", (text) => {
    expect(problems(text)).toEqual(["two capital letters, such as PT"]);
  });
});
