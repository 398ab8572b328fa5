import { expect, it } from "vitest";
import { written } from "./routes.ts";

const form = "application/x-www-form-urlencoded";

it("writes a form of values that cannot become text by themselves", () => {
  const stubborn = { toString: 0, valueOf: null };
  expect(new URLSearchParams(written(form, { a: [stubborn], b: "plain", c: null })).get("a")).toBe(
    '[{"toString":0,"valueOf":null}]',
  );
  expect(written(form, { b: "plain text", c: null })).toBe("b=plain+text&c=null");
});

it("writes JSON, also where there is nothing to write", () => {
  expect(written("application/json", { a: 1 })).toBe('{"a":1}');
  expect(written("application/json", undefined)).toBe("null");
});
