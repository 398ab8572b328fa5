import { describe, expect, it } from "vitest";
import { Instant, line, text } from "../../../api/http/text.ts";

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

  it.each(["2026-08-11", "2026-08-11T09:30:00", "2026-02-30T00:00:00Z", "soon"])(
    "%s is none, and the answer shows one",
    (text) => {
      const messages = Instant.safeParse(text).error?.issues.map(({ message }) => message);
      expect(messages).toEqual(["a date and a time with its zone, such as 2026-08-11T09:30:00Z"]);
    },
  );
});

describe("text that a caller gives", () => {
  const refusalOf = (schema: ReturnType<typeof line>, given: string) =>
    schema.safeParse(given).error?.issues.map(({ message }) => message);

  it.each([
    ["line", line(20)],
    ["text", text(20, 1)],
  ])("%s: is missing where it is empty or blank", (_, schema) => {
    for (const blank of ["", "   ", "\n"])
      expect(refusalOf(schema, blank)).toEqual(["some text, not only blanks"]);
  });

  it("is missing where it is nothing that anybody sees, and may have such signs in it", () => {
    for (const unseen of ["\u200b", "\u2060 \ufeff", "\u3164", "\u200b\n\u00ad"])
      expect(refusalOf(text(20, 1), unseen)).toEqual(["some text, not only blanks"]);
    expect(line(20).parse("\u{1f469}\u200d\u{1f680}")).toBe("\u{1f469}\u200d\u{1f680}");
  });

  it("is none where it may be empty", () => {
    expect([line(20, 0).parse(" "), text(20).parse(" \n")]).toEqual(["", ""]);
  });

  it("stays on its line, or has lines, and no other control characters", () => {
    for (const given of ["Tea\nGreen", "Tea\u0007"])
      expect(refusalOf(line(20), given)).toEqual(["text on one line, without control characters"]);
    expect(text(20).parse("Tea\r\nGreen\rFine")).toBe("Tea\nGreen\nFine");
    expect(refusalOf(text(20), "Tea\u0007")).toEqual(["text without control characters but line breaks"]);
  });

  it("counts a line break once, however it is sent", () => {
    expect(text(5).parse("a\r\nb\r\nc")).toBe("a\nb\nc");
    expect(refusalOf(text(4), "a\r\nb\r\nc")).toEqual(["Too big: expected string to have <=4 characters"]);
  });
});
