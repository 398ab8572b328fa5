import { NOT_AN_AMOUNT } from "../http/money.ts";
import { NOT_THERE } from "../http/problem.ts";
import { NOT_AN_INSTANT } from "../http/text.ts";

/** What the API says to programs of a wrong value, as a person is told. */
const words: readonly (readonly [said: RegExp, plain: string])[] = [
  [new RegExp(`^${NOT_THERE}`), "This is needed."],
  [/^some text/, "This is needed."],
  [/^Too small: expected (?:string|array)/, "This is needed."],
  [/^Too small: expected number to be >=(\d+)$/, "At least $1."],
  [/^Too big: expected number to be <=(\d+)$/, "At most $1."],
  [/^Too big: expected string to have <=(\d+) characters$/, "At most $1 characters."],
  [/^Invalid input: expected number/, "A whole number."],
  [/^Invalid input: expected record/, "An object in JSON, in braces."],
  [new RegExp(`^${NOT_AN_INSTANT}`), "A day and a time."],
  [new RegExp(`^${NOT_AN_AMOUNT}`), "An amount in digits, such as 12.50."],
  [/^a PNG as data:/, "A PNG."],
  [/^give a productId, or name and unitPrice$/, "Choose a product, or give a name and a unit price."],
];

export function plainly(detail: string): string {
  for (const [said, plain] of words) {
    const found = said.exec(detail);
    if (found) return plain.replace("$1", found[1] ?? "");
  }
  return detail;
}
