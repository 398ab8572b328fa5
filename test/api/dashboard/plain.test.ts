/** What the validators of the API say, as the forms of the dashboard say it to people. */
import { expect, it } from "vitest";
import { z } from "zod";
import type { Fault } from "#kernel/fault";
import { errorsOf, parseQuery } from "../../../api/dashboard/form.ts";
import { MoneyInput } from "../../../api/http/money.ts";
import { Instant } from "../../../api/http/text.ts";

const said = (schema: z.ZodType, value: unknown): string | undefined => {
  try {
    parseQuery(z.object({ field: schema }), { field: value });
  } catch (refused) {
    return errorsOf(refused as Fault)[0]?.detail;
  }
};

it.each([
  ["a text left out", z.string(), undefined, "This is needed."],
  ["a list left out", z.array(z.string()), undefined, "This is needed."],
  ["an empty text", z.string().min(1), "", "This is needed."],
  ["a number below the least", z.int().min(2), 1, "At least 2."],
  ["a number above the most", z.int().max(2), 3, "At most 2."],
  ["a text too long", z.string().max(2), "abc", "At most 2 characters."],
  ["words for a number", z.int(), "a few", "A whole number."],
  ["words for an object", z.record(z.string(), z.unknown()), "a few", "An object in JSON, in braces."],
  ["words for an instant", Instant, "tomorrow", "A day and a time."],
  [
    "words for an amount",
    MoneyInput,
    { amount: "a few", asset: "USD" },
    "An amount in digits, such as 12.50.",
  ],
])("%s", (_, schema, value, plain) => {
  expect(said(schema, value)).toBe(plain);
});
