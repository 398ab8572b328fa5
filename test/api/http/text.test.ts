import { describe, expect, it } from "vitest";
import { Instant } from "../../../api/http/text.ts";

describe("a moment that a caller names", () => {
  it.each([
    "0001-01-01T00:00:00Z",
    "0000-12-31T23:00:00-01:00",
    "2026-08-11T09:30:00.123+02:00",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59+23:59",
  ])("%s is taken as it is", (text) => {
    expect(Instant.parse(text)).toBe(text);
  });

  it.each(["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-23:59"])(
    "%s is of no year that can be kept, and the answer says which can",
    (text) => {
      const [issue] = Instant.safeParse(text).error?.issues ?? [];
      expect(issue?.message).toBe("a moment of the years 1 to 9999, in UTC");
    },
  );

  it.each(["2026-08-11", "2026-08-11T09:30:00", "2026-02-30T00:00:00Z", "soon"])("%s is none", (text) => {
    expect(Instant.safeParse(text).error?.issues).toHaveLength(1);
  });
});
